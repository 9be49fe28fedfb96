//! A plan, or two side by side, as one page that needs nothing else.

use weft_core::plan::PlanRecord;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
///
/// # Errors
/// A plan cannot be written as JSON.
pub fn of(plans: &[PlanRecord]) -> serde_json::Result<String> {
    // No text of a plan may end the element that holds it.
    let data = serde_json::to_string(plans)?.replace('<', "\\u003c");
    let page = PAGE.replace("/*STYLE*/", STYLE.trim_end()).replace("/*SCRIPT*/", SCRIPT.trim_end());
    Ok(page.replace("/*PLANS*/", &data))
}

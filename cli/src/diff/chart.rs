//! The error of each tensor over the layers of a model, as SVG.

use plotters::prelude::*;
use std::path::Path;
use weft::diff::Compared;

/// Equal tensors are drawn here: below what f32 can tell apart.
const NONE: f64 = 1e-18;

/// Draws the errors, and the bound as a line.
pub fn draw(path: &Path, title: &str, compared: &[Compared], bound: f64) -> anyhow::Result<()> {
    let places = places(compared);
    let layers = places.iter().map(|(at, _)| at.ceil()).fold(1.0, f64::max);
    let largest =
        places.iter().map(|(_, nmse)| *nmse).filter(|nmse| nmse.is_finite()).fold(1e-3, f64::max) * 10.0;
    let root = SVGBackend::new(path, (1200, 500)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(-1.0..layers, (NONE..largest).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("layer")
        .y_desc("squared error, relative")
        .x_label_formatter(&|x| if *x < 0.0 { "embedding".to_owned() } else { format!("{x:.0}") })
        .y_label_formatter(&|y| format!("{y:.0e}"))
        .light_line_style(TRANSPARENT)
        .draw()?;
    if bound > NONE {
        chart.draw_series(LineSeries::new([(-1.0, bound), (layers, bound)], &BLACK.mix(0.4)))?;
    }
    let color = |nmse: f64| if nmse > bound { RED } else { BLUE };
    let dots =
        places.iter().map(|(x, nmse)| Circle::new((*x, nmse.clamp(NONE, largest)), 2, color(*nmse).filled()));
    chart.draw_series(dots)?;
    root.present()?;
    Ok(())
}

/// Where each tensor stands: its layer and how far it is through that layer; and its error.
fn places(compared: &[Compared]) -> Vec<(f64, f64)> {
    let same = |a: &Compared, b: &Compared| a.layer == b.layer && a.position == b.position;
    let mut places = Vec::with_capacity(compared.len());
    for group in compared.chunk_by(same) {
        let start = group[0].layer.map_or(-1.0, |layer| layer as f64);
        let step = 1.0 / group.len() as f64;
        places.extend(group.iter().enumerate().map(|(at, c)| (start + at as f64 * step, c.difference.nmse)));
    }
    places
}

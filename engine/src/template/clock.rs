//! Dates for templates that write today's: the `strftime_now` function.
//!
//! Times are UTC. The date of a day number follows the proleptic Gregorian calendar (years of 400-year cycles that begin
//! in March, so that the leap day comes last).

use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Writes a time as a `strftime` format asks. Fields that are not known stand as they are.
pub(super) fn format_time(time: SystemTime, format: &str) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    let date = Date::of(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let mut field = characters.next();
        let unpadded = field == Some('-');
        if unpadded {
            field = characters.next();
        }
        let padded = |value: u64| if unpadded { value.to_string() } else { format!("{value:02}") };
        let written = match field {
            Some('Y') => date.year.to_string(),
            Some('y') => padded(date.year % 100),
            Some('m') => padded(date.month),
            Some('d') => padded(date.day),
            Some('e') => format!("{:2}", date.day),
            Some('j') if unpadded => date.day_of_year().to_string(),
            Some('j') => format!("{:03}", date.day_of_year()),
            Some('B') => date.month_name().to_owned(),
            Some('b' | 'h') => date.month_name()[..3].to_owned(),
            Some('A') => date.day_name().to_owned(),
            Some('a') => date.day_name()[..3].to_owned(),
            Some('H') => padded(hour),
            Some('I') => padded((hour + 11) % 12 + 1),
            Some('M') => padded(minute),
            Some('S') => padded(second),
            Some('p') => (if hour < 12 { "AM" } else { "PM" }).to_owned(),
            Some('Z') => "UTC".to_owned(),
            Some('z') => "+0000".to_owned(),
            Some('F') => format!("{}-{:02}-{:02}", date.year, date.month, date.day),
            Some('T') => format!("{hour:02}:{minute:02}:{second:02}"),
            Some('%') => "%".to_owned(),
            other => {
                ["%", if unpadded { "-" } else { "" }].concat() + &other.map_or(String::new(), String::from)
            }
        };
        text.push_str(&written);
    }
    text
}

struct Date {
    /// Days since 1 January 1970.
    days: u64,
    year: u64,
    /// From 1.
    month: u64,
    /// From 1.
    day: u64,
}

impl Date {
    fn of(days: u64) -> Self {
        let shifted = days + 719_468;
        let day_of_cycle = shifted % 146_097;
        let year_of_cycle =
            (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
        let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year_of_cycle + shifted / 146_097 * 400 + u64::from(month <= 2);
        Self { days, year, month, day: day_of_year - (153 * from_march + 2) / 5 + 1 }
    }

    fn month_name(&self) -> &'static str {
        MONTHS[(self.month as usize - 1) % 12]
    }

    fn day_name(&self) -> &'static str {
        // 1 January 1970 was a Thursday.
        DAYS[((self.days + 4) % 7) as usize]
    }

    fn day_of_year(&self) -> u64 {
        let leap =
            (self.year.is_multiple_of(4) && !self.year.is_multiple_of(100)) || self.year.is_multiple_of(400);
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        before[(self.month as usize - 1) % 12] + self.day + u64::from(leap && self.month > 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_written_as_python_writes_them() {
        let cases = [
            (0, "%Y-%m-%d %H:%M:%S %A %j", "1970-01-01 00:00:00 Thursday 001"),
            (951_782_400, "%d %b %Y", "29 Feb 2000"),
            (1_709_251_199, "%F %T %j", "2024-02-29 23:59:59 060"),
            (1_735_603_200, "%-d %B %y, %-I %p", "31 December 24, 12 AM"),
            (4_107_542_400, "%e %a %-m", " 1 Mon 3"),
            (1_796_130_000, "%d%% %Q %-", "01% %Q %-"),
        ];
        for (seconds, format, expected) in cases {
            assert_eq!(format_time(UNIX_EPOCH + Duration::from_secs(seconds), format), expected);
        }
    }
}

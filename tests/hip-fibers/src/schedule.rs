//! Which lane runs next: a wave runs until all its lanes stand at a barrier or have ended, then the next wave does.

/// Where a lane has stopped. The numbers are those of the kernels' text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At an operation that needs all lanes of the wave.
    Wave = 1,
    /// At a barrier of the block.
    Barrier = 2,
    Ended = 3,
}

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This thread of the block runs on, or starts.
    Thread(usize),
    /// All have ended.
    Ended,
    /// Some are where the others are not.
    Fault(String),
}

/// Lanes of a wave.
pub(crate) const LANES: usize = 32;

/// The order of one block's threads.
pub(crate) struct Schedule {
    waves: usize,
    is_reverse: bool,
    /// Waves and lanes of the present turn that have had it.
    wave: usize,
    lane: usize,
    /// Where the lanes of the present wave stopped, and at which lines of the text.
    waves_stopped: [usize; 4],
    lines: Option<(u32, u32)>,
    /// Waves of the present turn that wait at a barrier, and that have ended.
    waiting: usize,
    ended: usize,
}

impl Schedule {
    pub(crate) fn new(threads: usize, is_reverse: bool) -> Self {
        let (waves, waves_stopped) = (threads / LANES, [0; 4]);
        Schedule { waves, is_reverse, wave: 0, lane: 0, waves_stopped, lines: None, waiting: 0, ended: 0 }
    }

    /// The thread that was running stops.
    pub(crate) fn stopped(&mut self, stop: Stop, line: u32) {
        self.waves_stopped[stop as usize] += 1;
        match &mut self.lines {
            None => self.lines = Some((line, line)),
            Some((one, other)) if *one != line => *other = line,
            Some(_) => {}
        }
    }

    fn ordered(&self, position: usize, count: usize) -> usize {
        if self.is_reverse { count - 1 - position } else { position }
    }

    /// The wave that runs.
    pub(crate) fn present_wave(&self) -> usize {
        self.ordered(self.wave.min(self.waves - 1), self.waves)
    }

    pub(crate) fn next(&mut self) -> Next {
        loop {
            if self.lane < LANES {
                let lane = self.ordered(self.lane, LANES);
                self.lane += 1;
                return Next::Thread(self.present_wave() * LANES + lane);
            }
            if let Some(fault) = self.end_of_wave() {
                return Next::Fault(fault);
            }
            if self.wave < self.waves {
                continue;
            }
            match (self.waiting, self.ended) {
                (0, _) => return Next::Ended,
                (_, 0) => (self.wave, self.waiting) = (0, 0),
                (waiting, ended) => {
                    let what = format!("{waiting} waves wait at a barrier, {ended} have ended");
                    return Next::Fault(what);
                }
            }
        }
    }

    /// All lanes of the wave have stopped.
    fn end_of_wave(&mut self) -> Option<String> {
        let [_, at_wave, at_barrier, ended] = std::mem::take(&mut self.waves_stopped);
        let lines = self.lines.take();
        self.lane = 0;
        if ended < LANES && at_wave < LANES && at_barrier < LANES {
            return Some(format!(
                "lanes of wave {} parted: {at_wave} at a cross-lane operation, {at_barrier} at a barrier, {ended} have ended",
                self.present_wave()
            ));
        }
        if let Some((one, other)) = lines
            && one != other
        {
            return Some(format!(
                "lanes of wave {} parted: some at line {one} of the text, some at line {other}",
                self.present_wave()
            ));
        }
        if at_wave == 0 {
            self.wave += 1;
            self.waiting += usize::from(at_barrier > 0);
            self.ended += usize::from(ended > 0);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, Schedule, Stop};

    /// Runs threads that stop as `stop(thread, times before)` says; gives the order of starts and the end.
    fn run(threads: usize, reverse: bool, stop: impl Fn(usize, usize) -> (Stop, u32)) -> (Vec<usize>, Next) {
        let mut schedule = Schedule::new(threads, reverse);
        let (mut before, mut order) = (vec![0; threads], Vec::new());
        loop {
            match schedule.next() {
                Next::Thread(thread) => {
                    order.push(thread);
                    let (stop, line) = stop(thread, before[thread]);
                    before[thread] += 1;
                    schedule.stopped(stop, line);
                }
                end => return (order, end),
            }
        }
    }

    #[test]
    fn a_wave_runs_to_the_barrier_before_the_next_starts() {
        let stops = [(Stop::Wave, 1), (Stop::Barrier, 2), (Stop::Ended, 0)];
        let (order, end) = run(64, false, |_, times| stops[times]);
        assert_eq!(end, Next::Ended);
        let expected: Vec<usize> =
            [0..32, 0..32, 32..64, 32..64, 0..32, 32..64].into_iter().flatten().collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn reverse_turns_waves_and_lanes_around() {
        let (order, end) = run(64, true, |_, _| (Stop::Ended, 0));
        assert_eq!((order, end), ((0..64).rev().collect(), Next::Ended));
    }

    #[test]
    fn lanes_that_part_are_a_fault() {
        let parted = |stop: fn(usize, usize) -> (Stop, u32)| matches!(run(64, false, stop).1, Next::Fault(_));
        assert!(parted(|thread, _| (if thread == 3 { Stop::Ended } else { Stop::Wave }, 1)));
        assert!(parted(|thread, _| (if thread == 3 { Stop::Ended } else { Stop::Barrier }, 1)));
        assert!(parted(|thread, _| (if thread < 32 { Stop::Ended } else { Stop::Barrier }, 0)));
        assert!(parted(|thread, _| (Stop::Wave, u32::from(thread == 5))));
    }
}

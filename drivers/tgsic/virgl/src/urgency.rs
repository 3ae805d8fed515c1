//! Real-time scheduling of the threads that copy.
//!
//! A frame waits for several answers of the host, each of which the proxy passes on. A thread of normal priority does
//! not run as soon as a message wakes it where the host draws in software on all processors, so frames come later. A
//! thread of real-time priority does. What it runs then is bounded by what client and host send. Translation is not:
//! that goes on at normal priority.

use thread_priority::unix::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ScheduleParams, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// The lowest real-time priority: above all threads that have none, and below whatever else asked for one.
const REAL_TIME: i32 = 1;

/// Real-time priority of the current thread, and the niceness that it has otherwise.
#[derive(Debug)]
pub struct Urgency {
    niceness: i32,
}

impl Urgency {
    /// Gives the current thread real-time priority, unless that is not permitted (it takes `CAP_SYS_NICE` or a limit
    /// `RLIMIT_RTPRIO` of 1), or the thread has a policy other than the usual one already.
    pub fn of_current_thread() -> Option<Urgency> {
        let usual = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        let niceness = rustix::process::getpriority_process(None).ok()?;
        let policy = thread_priority::unix::thread_schedule_policy().ok()?;
        let urgency = Urgency { niceness };
        (policy == usual && urgency.raise()).then_some(urgency)
    }

    fn raise(&self) -> bool {
        let priority = ThreadPriority::from_posix(ScheduleParams { sched_priority: REAL_TIME });
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let raised = set_thread_priority_and_policy(thread_native_id(), priority, policy);
        raised.inspect_err(|error| log::debug!("no real-time priority: {error:?}")).is_ok()
    }

    fn lower(&self) {
        // The middle of the numbers from 0 to 99 that stand for this niceness, from 19 to -20.
        let priority = (i32::from(u8::from(ThreadPriorityValue::MAX)) * (37 - 2 * self.niceness) / 78).max(0);
        let priority = ThreadPriority::from_posix(ScheduleParams { sched_priority: priority });
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        if let Err(error) = set_thread_priority_and_policy(thread_native_id(), priority, policy) {
            log::debug!("a translation runs at real-time priority: {error:?}");
        }
    }

    /// Runs something that may take long at the priority that the thread had before.
    pub fn without<R>(&self, run: impl FnOnce() -> R) -> R {
        self.lower();
        let result = run();
        self.raise();
        result
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use thread_priority::unix::thread_schedule_policy;

    use super::*;

    #[test]
    fn translations_run_as_if_nothing_had_been_asked_for() {
        std::thread::spawn(|| {
            let state = || (thread_schedule_policy().expect("a policy"), rustix::process::getpriority_process(None));
            let before = state();
            let urgency = Urgency::of_current_thread();
            let raised = state();
            match urgency {
                None => assert_eq!(raised, before),
                Some(urgency) => {
                    assert_eq!(raised.0, ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo));
                    assert_eq!(urgency.without(state), before);
                    assert_eq!(state(), raised);
                    // A process of another niceness keeps that. Not everybody may set every one.
                    if urgency.without(|| rustix::process::setpriority_process(None, -20)).is_ok() {
                        for niceness in -20..20 {
                            assert_eq!(Urgency { niceness }.without(state).1, Ok(niceness));
                        }
                    }
                }
            }
        })
        .join()
        .expect("the thread ends");
    }
}

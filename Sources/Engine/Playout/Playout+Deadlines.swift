internal import Wire

/// Time-driven outcomes: marks that are reached or abandoned, and the end of an utterance.
extension Playout {
    /// Sets a mark. Answered at once if that position was played or cleared.
    mutating func mark(_ time: MediaTime, name: String, at now: Instant, into outcomes: inout [Outcome]) {
        if let clearedUpTo, time.distance(from: clearedUpTo) <= 0, !wasPlayed(time) {
            outcomes.append(.marked(name: name, .cleared, at: furthest))
            return
        }
        if utterance == nil, let lastEnd, time.distance(from: lastEnd.time) <= 0, !wasPlayed(time) {
            // It was abandoned together with its utterance.
            outcomes.append(.marked(name: name, .timeout, at: furthest))
            return
        }
        marks.append(Mark(time: time, name: name, since: now))
        processDue(at: now, into: &outcomes)
    }

    /// Time of the next outcome unless something happens before. Linear in the pending marks.
    ///
    /// Always after `now`, when everything due has been reported.
    func deadline(after now: Instant) -> Instant? {
        var wakeUp = EarliestDeadline()
        if let utterance { wakeUp.include(finish(of: utterance)?.at) }
        for mark in marks { wakeUp.include(due(mark)) }
        return wakeUp.instant.map { $0 > now ? $0 : now + .milliseconds(1) }
    }

    /// Appends everything due by now.
    mutating func processDue(at now: Instant, into outcomes: inout [Outcome]) {
        answerMarks(at: now, into: &outcomes)
        guard let utterance, let finish = finish(of: utterance), finish.at <= now else { return }
        if finish.isPlayed { self.finish(at: now, into: &outcomes) } else { abandon(utterance, at: now, into: &outcomes) }
    }

    /// The end of the utterance has passed without progress: frames released now start the next one.
    func isStalled(_ utterance: Utterance, at now: Instant) -> Bool {
        guard utterance.clock.isDrained, let end = utterance.clock.end else { return false }
        return max(utterance.movedAt, end.at) + Limits.playoutStallMax <= now
    }

    /// Ends an utterance although no subscriber reached its end.
    mutating func abandon(_ utterance: Utterance, at now: Instant, into outcomes: inout [Outcome]) {
        abandonMarks(of: utterance, heard: utterance.time(at: utterance.heard(at: now)), into: &outcomes)
        finish(at: now, into: &outcomes)
    }

    private mutating func finish(at now: Instant, into outcomes: inout [Outcome]) {
        let heard = heard(at: now)
        close(at: now)
        outcomes.append(.finished(heard))
    }

    /// Answers marks of the previous epoch, set before the publisher knew of the clear.
    mutating func answerMarksOfCleared(upTo time: MediaTime, into outcomes: inout [Outcome]) {
        guard !marks.isEmpty else { return }
        for mark in marks where mark.time.distance(from: time) <= 0 {
            outcomes.append(.marked(name: mark.name, .cleared, at: furthest))
        }
        marks.removeAll { $0.time.distance(from: time) <= 0 }
    }

    private mutating func answerMarks(at now: Instant, into outcomes: inout [Outcome]) {
        guard !marks.isEmpty else { return }
        let heard = utterance.map { $0.time(at: $0.heard(at: now)) } ?? furthest
        var waiting: [Mark] = []
        for mark in marks {
            if wasReached(mark, heard: heard) {
                outcomes.append(.marked(name: mark.name, .played, at: heard))
            } else if due(mark) <= now {
                let status = hasDrops ? MarkStatus.dropped : .timeout
                outcomes.append(.marked(name: mark.name, status, at: heard))
            } else {
                waiting.append(mark)
            }
        }
        if waiting.count < marks.count, let offset = utterance?.heard(at: now) { utterance?.settle(at: offset) }
        marks = waiting
    }

    /// Abandons the marks within an utterance whose end is not reached.
    private mutating func abandonMarks(of utterance: Utterance, heard: MediaTime, into outcomes: inout [Outcome]) {
        guard let end = utterance.clock.end.map({ utterance.time(at: $0.offset) }) else { return }
        let status = hasDrops ? MarkStatus.dropped : .timeout
        for mark in marks where mark.time.distance(from: end) <= 0 {
            outcomes.append(.marked(name: mark.name, status, at: heard))
        }
        marks.removeAll { $0.time.distance(from: end) <= 0 }
    }

    private func wasReached(_ mark: Mark, heard: MediaTime?) -> Bool {
        heard.map { mark.time.distance(from: $0) <= 0 } ?? false
    }

    private func wasPlayed(_ time: MediaTime) -> Bool {
        furthest.map { time.distance(from: $0) <= 0 } ?? false
    }

    /// When a mark will be reached or abandoned, as far as known.
    private func due(_ mark: Mark) -> Instant {
        guard let utterance else { return max(mark.since, quietSince) + Limits.markQuietMax }
        if let reached = utterance.instant(playing: utterance.offset(of: mark.time)) { return reached }
        if utterance.clock.isDrained, let end = utterance.clock.end {
            return max(mark.since, utterance.movedAt, end.at) + Limits.markQuietMax
        }
        return max(mark.since, utterance.movedAt) + Limits.markStalledMax
    }

    /// When a drained utterance is over: its end has played and nothing followed for a moment, or no subscriber reaches it.
    private func finish(of utterance: Utterance) -> (at: Instant, isPlayed: Bool)? {
        guard utterance.clock.isDrained, let end = utterance.clock.end else { return nil }
        if let heard = utterance.instant(playing: end.offset) { return (max(heard, end.at + Limits.playoutLinger), true) }
        return (max(utterance.movedAt, end.at) + Limits.markQuietMax, false)
    }
}

internal import Wire

/// The assistant's turns that are not in the log yet: what each adds to the conversation, and how long it takes. A pure value.
struct TurnsInProgress: Sendable {
    private var records: [TurnID: TurnRecord] = [:]
    /// Of measured turns, until their metrics are taken.
    private var stopwatches: [TurnID: TurnStopwatch] = [:]
    /// The call ends when everything of this turn was spoken.
    var last: TurnID?

    /// The record of a turn; nil once it is in the log, or forgotten.
    subscript(turn: TurnID) -> TurnRecord? {
        get { records[turn] }
        _modify { yield &records[turn] }
    }

    /// - Parameter end: nil for a turn that is not measured.
    mutating func begin(_ turn: TurnID, _ messages: [UserMessage], _ end: EndOfTurn?) {
        records[turn] = TurnRecord(messages: messages)
        stopwatches[turn] = end.map { TurnStopwatch(turn, $0) }
    }

    /// Removes and returns the record of a turn that goes into the log.
    mutating func take(_ turn: TurnID) -> TurnRecord? { records.removeValue(forKey: turn) }

    /// Removes the last message of a turn: its user goes on speaking, and the whole utterance gets a response of its own.
    mutating func retractLastMessage(of turn: TurnID) {
        _ = records[turn]?.messages.popLast()
    }

    mutating func forget(_ turn: TurnID) {
        records[turn] = nil
        stopwatches[turn] = nil
    }

    // MARK: Times

    /// When the user's turn ended; nil if the assistant speaks on its own, or the turn is over.
    func endOfTurn(_ turn: TurnID) -> EndOfTurn? { stopwatches[turn]?.end }

    /// Whether nothing of the response is audible.
    func isSilent(_ turn: TurnID) -> Bool { stopwatches[turn].map { $0.metrics.firstAudioMs == nil } ?? false }

    /// The assistant says that the response takes a moment.
    ///
    /// - Returns: false if the response is there.
    mutating func fill(_ turn: TurnID, with filler: String, of length: Duration) -> Bool {
        guard isSilent(turn) else { return false }
        records[turn]?.filler = filler
        stopwatches[turn]?.filled(for: length)
        return true
    }

    mutating func measure(_ turn: TurnID, _ note: (inout TurnStopwatch) -> Void) {
        guard var stopwatch = stopwatches[turn] else { return }
        note(&stopwatch)
        stopwatches[turn] = stopwatch
    }

    /// Ends the measurement of a turn; nil if it is not measured, or its metrics were taken.
    mutating func takeMetrics(of turn: TurnID) -> TurnMetrics? { stopwatches.removeValue(forKey: turn)?.metrics }
}

/// The tasks of the assistant's turns: the one that speaks, and those that wait for what was heard of abandoned ones.
struct TurnTasks {
    private(set) var current: (turn: TurnID, task: Task<Void, Never>)?
    /// That of the latest abandoned turn, until what was heard of it is in the log.
    private(set) var abandonment: Task<Void, Never>?

    /// Replaces the task of the turn before.
    mutating func start(_ turn: TurnID, _ work: @escaping @Sendable () async -> Void) {
        cancel()
        current = (turn, Task { await work() })
    }

    mutating func cancel() {
        current?.task.cancel()
        current = nil
    }

    /// Cancels the task if it is that of this turn.
    mutating func cancel(_ turn: TurnID) {
        if current?.turn == turn { cancel() }
    }

    /// Passes on what was heard of an abandoned turn, after that of those before.
    mutating func abandon(_ heard: AsyncStream<HeardSpeech>, _ take: @escaping @Sendable (HeardSpeech) async -> Void) {
        let before = abandonment
        abandonment = Task {
            await before?.value
            await take(await heard.first { _ in true } ?? HeardSpeech())
        }
    }
}

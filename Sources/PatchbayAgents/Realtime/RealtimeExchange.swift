internal import Wire

/// Decides what to ask of a realtime provider, and which turn its answers belong to. A pure value.
///
/// Promises: at most one response is requested at a time; a turn that is not abandoned ends with `complete` or `fail`; nothing of a cancelled
/// response reaches a turn; the provider's memory contains of the assistant's speech only what was heard.
///
/// A session that is lost, or could not be opened, is opened again once for each turn, unless something of the turn may already be audible.
struct RealtimeExchange: Sendable {
    enum Input: Sendable, Hashable {
        /// A user has come: a session will be needed.
        case began
        /// Sessions are numbered; inputs of replaced ones are ignored.
        case opened(session: Int)
        case openingFailed(session: Int, ProviderError)
        case received(session: Int, RealtimeEvent)
        case lost(session: Int, ProviderError)
        /// Respond to messages, of which earlier turns that were abandoned before anything was audible may have had a part.
        case respond(TurnID, [UserMessage])
        case toolsFinished(TurnID, [ToolResult])
        /// Nothing more of a turn will be spoken.
        case abandoned(TurnID)
        /// How much of each item of an abandoned turn was played.
        case heard(TurnID, [Duration])
        /// The messages so far were responded to, or will not be.
        case answered
        /// The assistant said something without the provider.
        case said(String)
        case tick
    }

    enum Effect: Sendable, Hashable {
        case open(session: Int)
        /// Close the session, which is of no use any more.
        case close

        // MARK: To the session
        /// Send the conversation before the turn in progress.
        case sendHistory
        case append(UserMessage)
        case send(RealtimeRequest)

        // MARK: To the turn
        /// Text and audio of another item follow.
        case item(TurnID)
        case text(TurnID, String)
        case audio(TurnID, [Int16])
        /// Forget the items so far. No audio of them has arrived.
        case restart(TurnID)
        case run(TurnID, [ToolCall])
        case endCall(TurnID)
        case complete(TurnID)
        /// The last effect of its input.
        case fail(TurnID, ProviderError)
    }

    struct ToolResult: Sendable, Hashable {
        var call: String
        var text: String
    }

    /// Requests in one turn.
    static let roundsMax = 8
    /// Text of one turn.
    static let charactersMax = 16_000
    /// Pause within a response after which the session counts as lost.
    static let pauseMax = Duration.seconds(10)
    /// How long the end of a cancelled response is waited for.
    static let cancellationMax = Duration.seconds(2)

    enum Link: Hashable { case closed, opening, open }

    /// The latest turn.
    struct Turn {
        enum Phase {
            /// For the session, or for the end of an earlier response.
            case waiting
            case responding, runningTools, complete
            /// Abandoned or failed.
            case ended
        }

        let id: TurnID
        let messages: [UserMessage]
        var phase = Phase.waiting
        var hasReopened = false
        var rounds = 0
        var characterCount = 0
        var calls: [ToolCall] = []
        var items: [Item] = []
        var endsCall = false
        /// Its response was cancelled: the last item may be longer than what was received.
        var isCut = false
    }

    struct Item {
        let id: String
        var sampleCount = 0
        var duration: Duration { Duration(ticks: sampleCount * 48_000 / RealtimeConfiguration.sampleRate) }
    }

    /// Requested, and not ended by the provider.
    struct Response {
        /// Nil once it was cancelled.
        var turn: TurnID?
        var lastEventAt: Instant
        /// Items of the turn before the response was cancelled.
        var knownItems: [String] = []
        /// Items that began after that.
        var unheardItems: [String] = []
    }

    var link = Link.closed
    /// Of the latest session.
    private var number = 0
    /// Why the latest session ended.
    private var failure = ProviderError(.disconnected, "there is no realtime session")
    var turn: Turn?
    var response: Response?
    /// Users' messages in the session's memory that were not answered yet.
    private var delivered: [UserMessage] = []

    mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        switch input {
        case .began: if number == 0 { open(into: &effects) }
        case .opened(session: number) where link == .opening:
            link = .open
            delivered = []
            effects.append(.sendHistory)
            proceed(at: now, into: &effects)
        case .openingFailed(session: number, let error) where link == .opening:
            link = .closed
            failure = error
            proceed(at: now, into: &effects)
        case .received(session: number, let event) where link == .open: receive(event, at: now, into: &effects)
        case .lost(session: number, let error) where link == .open: lose(error, at: now, into: &effects)
        case .opened, .openingFailed, .received, .lost: break
        case .respond(let id, let messages):
            cut(at: now, into: &effects)
            turn = Turn(id: id, messages: messages)
            proceed(at: now, into: &effects)
        case .toolsFinished(let id, let results): finishTools(of: id, results, at: now, into: &effects)
        case .abandoned(let id): if turn?.id == id { cut(at: now, into: &effects) }
        case .heard(let id, let played): if turn?.id == id { truncate(to: played, into: &effects) }
        case .answered: delivered = []
        case .said(let text): if link == .open, !text.isEmpty { effects.append(.send(.appendAssistantText(text))) }
        case .tick: checkTimers(at: now, into: &effects)
        }
    }

    // MARK: Sessions

    private mutating func open(into effects: inout [Effect]) {
        number += 1
        link = .opening
        effects.append(.open(session: number))
    }

    /// The session cannot be used any more.
    mutating func lose(_ error: ProviderError, at now: Instant, into effects: inout [Effect]) {
        link = .closed
        failure = error
        response = nil
        effects.append(.close)
        guard let turn else { return }
        // Its items went with the session.
        self.turn?.items = []
        switch turn.phase {
        case .waiting: proceed(at: now, into: &effects)
        case .responding where turn.rounds == 0 && turn.calls.isEmpty && turn.items.allSatisfy { $0.sampleCount == 0 }:
            if !turn.items.isEmpty { effects.append(.restart(turn.id)) }
            self.turn = Turn(id: turn.id, messages: turn.messages, hasReopened: turn.hasReopened)
            proceed(at: now, into: &effects)
        case .responding, .runningTools: fail(error, at: now, into: &effects)
        case .complete, .ended: break
        }
    }

    /// Requests the response of a waiting turn, once that is possible.
    mutating func proceed(at now: Instant, into effects: inout [Effect]) {
        guard let turn, turn.phase == .waiting else { return }
        switch link {
        case .opening: break
        case .closed:
            guard !turn.hasReopened else { return fail(failure, at: now, into: &effects) }
            self.turn?.hasReopened = true
            open(into: &effects)
        case .open:
            guard response == nil else { return }
            effects += undelivered(turn.messages).map { .append($0) }
            delivered = turn.messages
            request(at: now, into: &effects)
        }
    }

    mutating func request(at now: Instant, into effects: inout [Effect]) {
        guard let turn else { return }
        self.turn?.phase = .responding
        response = Response(turn: turn.id, lastEventAt: now)
        effects.append(.send(.createResponse))
    }

    /// The messages without those that the session has. More digits may have been added to the last of these.
    private func undelivered(_ messages: [UserMessage]) -> [UserMessage] {
        var rest = messages[...]
        for known in delivered {
            guard var first = rest.popFirst(), first.speaker == known.speaker, first.kind == known.kind else { return messages }
            if first.text == known.text { continue }
            guard first.kind == .digits, first.text.hasPrefix(known.text) else { return messages }
            first.text.removeFirst(known.text.count)
            rest.insert(first, at: rest.startIndex)
        }
        return Array(rest)
    }

    private mutating func checkTimers(at now: Instant, into effects: inout [Effect]) {
        guard link == .open, let response else { return }
        let isOverdue =
            response.turn == nil
            ? turn?.phase == .waiting && now - response.lastEventAt > Self.cancellationMax
            : now - response.lastEventAt > Self.pauseMax
        if isOverdue { lose(ProviderError(.timeout, "the realtime session does not answer"), at: now, into: &effects) }
    }
}

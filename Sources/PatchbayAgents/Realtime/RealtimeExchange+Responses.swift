internal import Wire

/// Responses of the provider.
extension RealtimeExchange {
    mutating func receive(_ event: RealtimeEvent, at now: Instant, into effects: inout [Effect]) {
        // From the cancellation of a response on, only its end counts.
        if response?.turn != nil { response?.lastEventAt = now }
        switch event {
        case .responseStarted:
            // This response was not requested.
            guard response == nil else { return }
            response = Response(turn: nil, lastEventAt: now)
            effects.append(.send(.cancelResponse))
        case .audio(let item, let samples):
            guard let (id, index) = place(of: item, into: &effects) else { return }
            turn?.items[index].sampleCount += samples.count
            effects.append(.audio(id, samples))
        case .transcriptDelta(let item, let text):
            guard let (id, _) = place(of: item, into: &effects) else { return }
            effects.append(.text(id, text))
            let count = (turn?.characterCount ?? 0) + text.count
            turn?.characterCount = count
            guard count > Self.charactersMax else { return }
            fail(
                ProviderError(.invalidResponse, "the response exceeds \(Self.charactersMax) characters"), at: now, into: &effects)
        case .toolCall(let call): if response?.turn != nil { turn?.calls.append(call) }
        case .endCall:
            guard let id = response?.turn else { return }
            turn?.endsCall = true
            effects.append(.endCall(id))
        case .responseDone(_, let outcome): finish(outcome, at: now, into: &effects)
        case .inputCommitted, .userTranscriptDelta, .userTranscript, .error: break
        }
    }

    /// The turn of an item and the item's index in it; nil if the response was cancelled.
    private mutating func place(of item: String, into effects: inout [Effect]) -> (TurnID, Int)? {
        guard let response else { return nil }
        guard let id = response.turn, let turn else {
            if !response.knownItems.contains(item), !response.unheardItems.contains(item) { self.response?.unheardItems.append(item) }
            return nil
        }
        if let index = turn.items.firstIndex(where: { $0.id == item }) { return (id, index) }
        self.turn?.items.append(Item(id: item))
        effects.append(.item(id))
        return (id, turn.items.count)
    }

    private mutating func finish(_ outcome: RealtimeOutcome, at now: Instant, into effects: inout [Effect]) {
        guard let done = response else { return }
        response = nil
        for item in done.unheardItems { effects.append(.send(.truncate(item: item, played: .zero))) }
        guard let id = done.turn, let turn else { return proceed(at: now, into: &effects) }
        let isSilent = turn.items.allSatisfy { $0.sampleCount == 0 } && !turn.endsCall
        switch outcome {
        case .failed(let error): fail(error, at: now, into: &effects)
        case .cancelled: fail(ProviderError(.invalidResponse, "the provider cancelled the response"), at: now, into: &effects)
        case .completed where !turn.calls.isEmpty:
            self.turn?.phase = .runningTools
            self.turn?.calls = []
            self.turn?.rounds += 1
            guard turn.rounds + 1 < Self.roundsMax else {
                let error = ProviderError(.invalidResponse, "the provider called tools \(Self.roundsMax) times in one turn")
                return fail(error, at: now, into: &effects)
            }
            effects.append(.run(id, turn.calls))
        case .completed where isSilent:
            fail(ProviderError(.invalidResponse, "the response has no audio"), at: now, into: &effects)
        case .completed:
            self.turn?.phase = .complete
            effects.append(.complete(id))
        }
    }

    mutating func finishTools(of id: TurnID, _ results: [ToolResult], at now: Instant, into effects: inout [Effect]) {
        guard turn?.id == id, turn?.phase == .runningTools, link == .open else { return }
        effects += results.map { .send(.appendToolResult($0.text, call: $0.call)) }
        request(at: now, into: &effects)
    }

    // MARK: Ends

    mutating func fail(_ error: ProviderError, at now: Instant, into effects: inout [Effect]) {
        guard let turn else { return }
        cut(at: now, into: &effects)
        effects.append(.fail(turn.id, error))
    }

    /// Ends the turn, and its response if there is one.
    mutating func cut(at now: Instant, into effects: inout [Effect]) {
        guard let turn else { return }
        self.turn?.phase = .ended
        guard response?.turn == turn.id else { return }
        self.turn?.isCut = true
        response?.turn = nil
        response?.lastEventAt = now
        response?.knownItems = turn.items.map(\.id)
        effects.append(.send(.cancelResponse))
    }

    /// Makes the provider forget what was not heard of the turn.
    mutating func truncate(to played: [Duration], into effects: inout [Effect]) {
        guard let turn else { return }
        self.turn = nil
        for (index, item) in turn.items.enumerated() {
            let heard = index < played.count ? min(played[index], item.duration) : .zero
            let mayBeLonger = turn.isCut && index == turn.items.count - 1
            if heard < item.duration || mayBeLonger { effects.append(.send(.truncate(item: item.id, played: heard))) }
        }
    }
}

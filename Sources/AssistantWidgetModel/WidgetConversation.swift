/// Handles the events within a call as the web widget does (`Web/widget/model/conversation.js`).
extension WidgetCall {
    /// The time at which `tick` is due; nil if nothing is pending.
    var deadline: Int? {
        [microphone.state == .asking ? microphone.promptAt : nil, agentDueAt].compactMap(\.self).min()
    }

    mutating func tick(_ now: Int) {
        if microphone.state == .asking, let promptAt = microphone.promptAt, now >= promptAt { microphone.state = .prompted }
        if let agentDueAt, now >= agentDueAt {
            absence = absence ?? (agent == nil ? .missing : .lost)
            self.agentDueAt = nil
        }
    }

    mutating func handle(_ event: ConversationEvent, at now: Int) -> [WidgetEffect] {
        switch event {
        case .room(let value): roomChanged(value)
        case .agentPresent(let identity, let name, let state): return agentPresent(identity, name, state)
        case .agentAway(let identity, let name, let state): agentAway(identity, name, state, now)
        case .agentState(let identity, let state): if agent?.identity == identity { agent?.state = state }
        case .agentGone(let identity, let isIntended): agentGone(identity, isIntended, now)
        case .agentAwaited:
            if agent == nil, agentDueAt == nil, absence == nil { agentDueAt = now + WidgetMachine.missingAfter }
        case .agentWaiting(let reason): agentWaiting(reason)

        case .microphone(let value, let code, let message):
            if value == .on { isTyping = false }
            microphone.state = value
            microphone.promptAt = value == .asking ? now + WidgetMachine.promptedAfter : nil
            microphone.code = code
            microphone.message = message
        case .muted(let isMuted): microphone.isMuted = isMuted
        case .sound(let blockage): soundBlockage = blockage
        case .recorded(let isActive): isRecorded = isActive
        case .logged(let value): isLogged = value
        case .draining(let time): closesAt = time
        case .refused(let message): refusal = message

        case .segment(let segment, let name): transcript.apply(segment, name: name, at: now)
        case .playout(let segment, let chars, let word): transcript.heard(segment, chars: chars, word: word)
        case .message(let name, let text): addLine(.message, name: name, text, at: now)
        case .typed(let text):
            refusal = nil
            addLine(.typed, text, at: now)
            // A user who types knows how to go on.
            return endOnboarding(isRemembered: true)
        case .queued(let text): if canQueue { pendingTexts.append(text) }

        case .onboardingFinished(let isComplete): return endOnboarding(isRemembered: isComplete)
        case .onboardingSkipped: return endOnboarding(isRemembered: true)
        default: handleTool(event, at: now)
        }
        return []
    }

    private mutating func roomChanged(_ value: Phase) {
        switch value {
        case .reconnecting:
            phase = .reconnecting
            agentDueAt = nil
        case .connected: if phase == .reconnecting { phase = .connected }
        case .none, .connecting: break
        }
    }

    private mutating func agentPresent(_ identity: String, _ name: String, _ state: AgentState?) -> [WidgetEffect] {
        let isNew = agent?.identity != identity
        let isKnown = !isNew && agent?.name == name && agent?.isAway == false
        // Assistants that are in the room at the join are handled once the call is connected.
        if phase == .connecting || isKnown { return [] }
        var effects: [WidgetEffect] = []
        // An assistant that replaces a lost one has not seen the earlier request.
        if onboarding == .wanted || (isNew && onboarding == .asked) {
            // A user who has asked something gets the answer; the introduction is left for another call.
            onboarding = pendingTexts.isEmpty ? .asked : .done
            if onboarding == .asked { effects.append(.onboarding) }
        }
        for text in pendingTexts { effects.append(.send(text: text)) }
        pendingTexts = []
        // Treat an assistant that reports no state as ready.
        agent = Agent(identity: identity, name: name, state: state ?? .idle, isAway: false)
        (absence, wait, agentDueAt) = (nil, nil, nil)
        return effects
    }

    private mutating func agentAway(_ identity: String, _ name: String, _ state: AgentState?, _ now: Int) {
        let isKnown = agent?.identity == identity && agent?.isAway == true && (agentDueAt != nil || absence == .lost)
        if phase == .connecting || isKnown { return }
        agent = Agent(identity: identity, name: name, state: state ?? .idle, isAway: true)
        absence = nil
        agentDueAt = now + WidgetMachine.goneAfter
    }

    private mutating func agentGone(_ identity: String, _ isIntended: Bool, _ now: Int) {
        guard agent?.identity == identity else { return }
        agent = nil
        tools = []
        absence = isIntended ? .left : .lost
        // Another worker may take over the job.
        agentDueAt = isIntended ? nil : now + WidgetMachine.missingAfter
    }

    private mutating func agentWaiting(_ reason: String?) {
        let isOver = reason == "ended" && agent == nil
        wait = reason == "ended" ? nil : reason
        if isOver { absence = absence ?? .missing }
    }

    /// Ends the introduction. It is remembered only if the user heard all of it or skipped it.
    private mutating func endOnboarding(isRemembered: Bool) -> [WidgetEffect] {
        guard onboarding == .asked else { return [] }
        onboarding = .done
        return isRemembered ? [.remember] : []
    }

    private mutating func handleTool(_ event: ConversationEvent, at now: Int) {
        switch event {
        case .toolStarted(let id, let name):
            tools.removeAll { $0.id == id }
            tools.append(Tool(id: id, name: name))
        case .toolFinished(let id): tools.removeAll { $0.id == id }
        case .toolFailed(let id, let name, let message, let canRetry):
            tools.removeAll { $0.id == id }
            // An assistant may show a card with the same id, which replaces this one.
            var card = Card(
                id: id, kind: "error", title: Self.title(ofTool: name), body: message, actions: canRetry ? ["retry"] : [])
            card.isOwn = true
            show(card)
        case .card(let card): show(card)
        case .cardSending(let id): setStatus(.sending, of: id)
        case .cardRefused(let id): setStatus(.refused, of: id)
        case .cardAnswered(let id, let note):
            cards.removeAll { $0.id == id }
            addLine(.note, note, at: now)
        case .cardDismissed(let id): cards.removeAll { $0.id == id }
        default: break
        }
    }

    /// Converts `find_order` to `find order`.
    private static func title(ofTool name: String) -> String {
        var title = ""
        var wasSeparator = false
        for character in name {
            let isSeparator = character == "_" || character == "-"
            if !isSeparator { title.append(character) } else if !wasSeparator { title.append(" ") }
            wasSeparator = isSeparator
        }
        return title
    }
}

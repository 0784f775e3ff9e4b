import Testing

@testable import AssistantWidgetModel

struct WidgetMachineTests {
    /// The state as plain values that both machines have in common: see `summary` in `Tests/Web/widget/machine-cases.test.js`.
    private static func summary(_ state: WidgetState) -> [String: JSONValue] {
        let call = state.call
        let problem = state.problem.map { problem in
            "\(problem.kind.rawValue) \(problem.code) \(problem.closeCode.map(String.init) ?? "-")\(problem.hadBegun ? " begun" : "")"
        }
        let agent = call.agent.map { "\($0.identity) \($0.name) \($0.state.rawValue)\($0.isAway ? " away" : "")" }
        let microphone = call.microphone.state.rawValue + (call.microphone.isMuted ? " muted" : "")
        let consent = call.isConsentAsked ? "asked" : call.isLogged ? "logged" : ""
        return [
            "view": .text(state.view.rawValue), "attempt": .number(state.attempt), "deadline": JSONValue(state.deadline),
            "settings": JSONValue(state.settings?.id), "problem": JSONValue(problem), "phase": .text(call.phase.rawValue),
            "status": .text(state.agentStatus.rawValue), "agent": JSONValue(agent), "absence": JSONValue(call.absence?.rawValue),
            "wait": JSONValue(call.wait), "microphone": .text(microphone + (state.hasMicrophoneScreen ? " screen" : "")),
            "consent": .text(consent), "isTyping": .bool(call.isTyping), "onboarding": .text(call.onboarding.rawValue),
            "tools": JSONValue(call.tools.map(\.name)),
            "cards": JSONValue(
                call.cards.map { card in
                    "\(card.id) \(card.kind) \(card.title)/\(card.body) \(card.actions.count) \(card.status.rawValue)"
                        + (card.isOwn ? " own" : "")
                }),
            "lines": JSONValue(
                call.transcript.items.map { item in
                    let parts = item.parts
                    return "\(item.kind.rawValue) \(item.name): \(parts.heard)|\(parts.now)|\(parts.next)|\(parts.never)"
                }),
            "notes": .text(
                [
                    call.isRecorded ? "recorded" : "", call.closesAt.map(String.init) ?? "", call.refusal ?? "",
                    call.soundBlockage ?? "",
                ].joined(separator: "|")),
        ]
    }

    @Test(arguments: try SharedCases.shared.get().cases)
    func theMachineDoesWhatTheWebWidgetDoes(of table: SharedCases.Case) throws {
        var machine = WidgetMachine()
        var now = 1_000
        var expected = Self.summary(machine.state)
        for (number, step) in table.steps.enumerated() {
            now = step.at ?? now
            let event = try #require(step.event.event(attempt: machine.state.attempt), "step \(number)")
            let effects = machine.handle(event, at: now)
            #expect(effects.map(\.name) == step.effects, "step \(number): \(event)")
            expected.merge(step.changes) { $1 }
            let found = Self.summary(machine.state)
            for (name, value) in expected where found[name] != value {
                Issue.record("step \(number), \(event): \(name) is \(String(describing: found[name])), not \(value)")
            }
        }
    }

    @Test(arguments: try SharedCases.shared.get().definitions)
    func settingsAreReadAsTheWebWidgetReadsThem(of definition: SharedCases.Definition) {
        let read = definition.read
        let found: [String: JSONValue] = [
            "id": .text(read.id), "name": .text(read.name), "voice": .text(read.voice), "language": .text(read.language),
            "quickCommands": JSONValue(read.quickCommands), "hasOnboarding": .bool(read.hasOnboarding),
            "startText": .text(read.startText), "thinkingText": .text(read.thinkingText), "interruptText": .text(read.interruptText),
            "logo": .text(read.logo), "history": .text(read.history), "feedback": .text(read.feedback),
            "theme": .text(read.theme.rawValue), "color": .text(read.color?.rawValue ?? ""), "preset": .text(read.preset.rawValue),
            "startState": .text(read.startState.rawValue),
        ]
        #expect(found == definition.settings)
    }

    @Test func theTableIsNotEmpty() throws {
        let table = try SharedCases.shared.get()
        #expect(table.cases.count >= 30 && table.definitions.count >= 4)
    }
}

struct WidgetTranscriptTests {
    private func segment(_ number: Int, _ text: String, isFinal: Bool = true) -> WidgetSegment {
        WidgetSegment(id: "s\(number)", kind: .user, text: text, isFinal: isFinal)
    }

    @Test func choicesOnCardsAreTheUsers() {
        let kinds: [TranscriptItem.Kind] = [.user, .typed, .note, .assistant, .message]
        let found = kinds.map { TranscriptItem(id: "a", at: 0, kind: $0, text: "x").isUser }
        #expect(found == [true, true, true, false, false])
    }

    @Test func onlyTheNewestLinesAreKept() {
        var transcript = WidgetTranscript()
        for number in 0..<700 { transcript.apply(segment(number, "x"), name: "", at: number) }
        #expect(transcript.items.count == WidgetTranscript.itemsMax && transcript.removed == 100)
        // A later revision of a line that was removed does not bring it back.
        transcript.apply(segment(5, "y"), name: "", at: 700)
        #expect(transcript.items.count == WidgetTranscript.itemsMax && transcript.items.first?.id == "s100")
    }

    @Test func longTextsCount() {
        var transcript = WidgetTranscript()
        for number in 0..<4 {
            transcript.apply(segment(number, String(repeating: "x", count: 40_000)), name: "", at: number)
        }
        #expect(transcript.items.map(\.id) == ["s2", "s3"])
        // The newest line is kept however long it is.
        transcript.apply(segment(9, String(repeating: "x", count: 200_000)), name: "", at: 9)
        #expect(transcript.items.map(\.id) == ["s9"])
    }
}

import Foundation
import Testing
import Wire

@testable import PatchbayAgents

/// The choice of the voice and language of an assistant.
struct ConversationSpeechTests {
    private static let definition = AssistantDefinition(
        id: "test", greetings: ["Welcome, {name}.", "Good day."], voice: "echo", language: "en")
    private static let unlimited = EngineLanguages()
    private static let embedded = EngineLanguages(of: AssistantProviders())
    private static let provider = ProviderSettings(baseUrl: "http://127.0.0.1/v1", model: "m")

    private func speech(
        _ preferences: SpeechPreferences = SpeechPreferences(), _ engines: EngineLanguages = Self.unlimited,
        of definition: AssistantDefinition = Self.definition
    ) -> ConversationSpeech { ConversationSpeech(definition, preferences, engines) }

    private func hello(_ attributes: [String: String]..., session: SessionBriefing? = nil, kind: ParticipantKind = .standard) -> Hello {
        func info(_ name: String, _ kind: ParticipantKind, _ attributes: [String: String]) -> ParticipantInfo {
            ParticipantInfo(
                sid: ParticipantSID(text: "PA_" + name), identity: Identity(text: name), name: "", kind: kind, metadata: "",
                attributes: attributes, permission: Permission(), joinedAt: 0, tracks: [])
        }
        return Hello(
            server: ServerInfo(version: "1", node: "n"),
            room: RoomInfo(sid: RoomSID(text: "RM_1"), name: "r", metadata: "", createdAt: 0, maxParticipants: 0),
            participant: info("agent", .agent, [:]),
            participants: attributes.enumerated().map { info("user\($0.offset)", kind, $0.element) }, sessionId: nil, session: session,
            resumeToken: "RT_1")
    }

    // MARK: Choices

    @Test func withoutAChoiceTheAssistantIsAsDefined() {
        #expect(speech().definition == Self.definition)
        #expect(speech().limit == nil && speech().notice == nil && speech().instruction == nil)
    }

    @Test func theSessionsChoicePrecedesTheUsersSettings() {
        let session = SessionBriefing(sessionId: "s", context: "web", voice: "onyx", language: "fr")
        #expect(SpeechPreferences(hello([:], session: session)) == SpeechPreferences(voice: "onyx", language: "fr"))
        #expect(
            SpeechPreferences(hello([:], ["patchbay.voice": "nova"], ["patchbay.voice": "fable"], session: session))
                == SpeechPreferences(voice: "nova", language: "fr"))
        #expect(SpeechPreferences(hello(["patchbay.language": "de-AT"])) == SpeechPreferences(language: "de-AT"))
        #expect(SpeechPreferences(hello(["patchbay.voice": "nova"], kind: .agent)) == SpeechPreferences(), "an agent is no user")
    }

    @Test(arguments: ["", "alto", "NOVA", "../nova", "nova\u{202E}", "<b>nova</b>", String(repeating: "x", count: 100_000)])
    func unknownVoicesAreNoChoice(voice: String) {
        #expect(SpeechPreferences(hello(["patchbay.voice": voice])).voice == nil)
        let session = SessionBriefing(sessionId: "s", context: "web", voice: "nova")
        #expect(SpeechPreferences(hello(["patchbay.voice": voice], session: session)).voice == "nova")
        #expect(speech(SpeechPreferences(voice: voice)).definition.voice == "echo")
    }

    @Test(arguments: ["", "German!", "d", "-", "de_AT", "<script>", "de\u{202E}"])
    func malformedLanguagesAreNoChoice(language: String) {
        #expect(SpeechPreferences(hello(["patchbay.language": language])).language == nil)
    }

    @Test(arguments: AssistantDefinition.voices) func everyVoiceCanBeChosen(voice: String) {
        #expect(speech(SpeechPreferences(voice: voice)).definition.voice == voice)
    }

    // MARK: Languages

    @Test(arguments: [("en", "Hello"), ("en-GB", "Hello"), ("de", "Hallo"), ("DE-at", "Hallo"), ("es-MX", "Hola"), ("fr", "Bonjour")])
    func phrasesFollowTheLanguage(language: String, hello: String) {
        let phrases = AssistantPhrases(language: language)
        #expect(phrases.greeting.hasPrefix(hello) && phrases.greeting.contains("{name}"))
    }

    @Test func phrasesAreCompleteAndDifferInEachLanguage() {
        #expect(AssistantPhrases.languages == ["en", "de", "es", "fr"])
        let all = AssistantPhrases.languages.map { AssistantPhrases(language: $0) }
        for text in [\AssistantPhrases.greeting, \.question, \.apology, \.filler, \.notUnderstood, \.toolFailed, \.tryAgain] {
            #expect(Set(all.map { $0[keyPath: text] }).count == all.count)
            #expect(all.allSatisfy { !$0[keyPath: text].isEmpty && $0[keyPath: text].utf8.count <= AssistantMessage.Limits.titleMax })
        }
    }

    @Test(arguments: ["it", "tlh", "", "zh-Hant"]) func otherLanguagesHaveEnglishPhrases(language: String) {
        #expect(AssistantPhrases(language: language) == AssistantPhrases())
    }

    @Test func greetingsOfAnotherLanguageAreReplaced() {
        let german = speech(SpeechPreferences(language: "de-AT"))
        #expect(german.definition.greetings == ["Hallo, {name}. Wie kann ich helfen?"])
        #expect(german.definition.language == "de-AT" && german.announced == "de-AT" && german.limit == nil)
        #expect(speech(SpeechPreferences(language: "en-GB")).definition.greetings == Self.definition.greetings)
        var silent = Self.definition
        silent.greetings = []
        #expect(speech(SpeechPreferences(language: "de"), of: silent).definition.greetings.isEmpty, "an assistant that does not greet")
    }

    @Test func greetingsStayWhereOnlyThePhrasesFallBackToEnglish() {
        #expect(speech(SpeechPreferences(language: "it")).definition.greetings == Self.definition.greetings)
        let italian = AssistantDefinition(id: "test", greetings: ["Benvenuti."], language: "it")
        #expect(speech(SpeechPreferences(), of: italian).definition.greetings == ["Benvenuti."])
        #expect(speech(SpeechPreferences(language: "de"), of: italian).definition.greetings == ["Hallo, {name}. Wie kann ich helfen?"])
    }

    @Test(arguments: ["de", "fr-CH", "ja"]) func embeddedEnginesSpeakEnglishAndSaySo(language: String) {
        let speech = speech(SpeechPreferences(voice: "nova", language: language), Self.embedded)
        #expect(speech.definition.language == "en" && speech.announced == "en" && speech.definition.voice == "nova")
        #expect(speech.definition.greetings == Self.definition.greetings)
        #expect(speech.limit == LanguageLimit(language: language, spoken: "en", understood: "en"))
        #expect(speech.notice == AssistantPhrases().speaksOnlyEnglish && speech.instruction?.contains("English") == true)
    }

    @Test func anAssistantDefinedInALanguageThatItCannotSpeakSpeaksEnglish() {
        let definition = AssistantDefinition(id: "test", greetings: ["Willkommen."], language: "de")
        let speech = speech(SpeechPreferences(), Self.embedded, of: definition)
        #expect(speech.definition.greetings == ["Hello, {name}. How can I help you?"] && speech.limit?.language == "de")
        #expect(self.speech(SpeechPreferences(language: "en-US"), Self.embedded, of: definition).limit == nil)
    }

    @Test func eachProviderRemovesItsLimit() {
        func german(_ providers: AssistantProviders) -> ConversationSpeech {
            speech(SpeechPreferences(language: "de"), EngineLanguages(of: providers))
        }
        func limit(_ providers: AssistantProviders) -> (announced: String, limit: LanguageLimit?) {
            (german(providers).announced, german(providers).limit)
        }
        let full = limit(AssistantProviders(recognizer: Self.provider, responder: Self.provider, synthesizer: Self.provider))
        #expect(full == ("de", nil))
        let deaf = limit(AssistantProviders(responder: Self.provider, synthesizer: Self.provider))
        #expect(deaf == ("de", LanguageLimit(language: "de", spoken: "de", understood: "en")))
        let simple = limit(AssistantProviders(recognizer: Self.provider, synthesizer: Self.provider))
        #expect(simple == ("de", LanguageLimit(language: "de", spoken: "en", understood: "de")), "the rules answer in English")
        let listener = german(AssistantProviders(responder: Self.provider, synthesizer: Self.provider))
        #expect(listener.notice == "Ich verstehe hier nur Englisch." && listener.instruction == nil)
        let ruled = german(AssistantProviders(recognizer: Self.provider, synthesizer: Self.provider))
        #expect(ruled.notice == "Ich kann hier nur Englisch sprechen." && ruled.instruction == nil, "its voice is not the limit")
        #expect(german(AssistantProviders(realtime: Self.provider)).notice == nil)
        let realtime = limit(AssistantProviders(realtime: Self.provider))
        #expect(realtime == ("en", LanguageLimit(language: "de", spoken: "de", understood: "de")), "its own phrases are embedded speech")
    }
}

internal import Wire

/// Phrases that an assistant says without asking its responder, in one language.
public struct AssistantPhrases: Sendable, Hashable {
    /// The greeting used if the definition's greetings are in another language. `{name}` is the user's name.
    public var greeting: String
    public var question: String
    public var apology: String
    public var notUnderstood: String
    /// Spoken if a response takes long.
    public var filler: String
    /// Spoken if a tool has failed and the responder does not mention it.
    public var toolFailed: String
    /// The label of the action on a failed tool's card.
    public var tryAgain: String
    /// Spoken after the greeting if the engines cannot answer in the language that the user has chosen.
    public var speaksOnlyEnglish: String
    /// Spoken after the greeting if the engines cannot recognize the language that the user has chosen.
    public var understandsOnlyEnglish: String

    /// The phrases of a language; English if there are none.
    ///
    /// - Parameter language: a BCP 47 tag; only its primary language counts.
    public init(language: String = "en") {
        self = Self.table[LanguageTag.primary(of: language)] ?? Self.english
    }

    /// The languages with phrases.
    static var languages: Set<String> { Set(table.keys) }

    func text(of phrase: AssistantPhrase) -> String {
        switch phrase {
        case .question: question
        case .apology: apology
        case .notUnderstood: notUnderstood
        }
    }

    private init(
        greeting: String, question: String, apology: String, notUnderstood: String, filler: String, toolFailed: String, tryAgain: String,
        speaksOnlyEnglish: String, understandsOnlyEnglish: String
    ) {
        self.greeting = greeting
        self.question = question
        self.apology = apology
        self.notUnderstood = notUnderstood
        self.filler = filler
        self.toolFailed = toolFailed
        self.tryAgain = tryAgain
        self.speaksOnlyEnglish = speaksOnlyEnglish
        self.understandsOnlyEnglish = understandsOnlyEnglish
    }

    private static let english = AssistantPhrases(
        greeting: "Hello, {name}. How can I help you?", question: "Are you still there?",
        apology: "Sorry, something went wrong. Could you try that again?",
        notUnderstood: "Sorry, I didn't catch that. Could you say it again?", filler: "One moment.", toolFailed: "Sorry, that didn't work.",
        tryAgain: "Try again",
        speaksOnlyEnglish: "I can only speak English here.", understandsOnlyEnglish: "I can only understand English here.")

    private static let table = [
        "en": english,
        "de": AssistantPhrases(
            greeting: "Hallo, {name}. Wie kann ich helfen?", question: "Sind Sie noch da?",
            apology: "Entschuldigung, da ist etwas schiefgegangen. Können Sie es noch einmal versuchen?",
            notUnderstood: "Entschuldigung, das habe ich nicht verstanden. Können Sie es wiederholen?",
            filler: "Einen Moment.", toolFailed: "Das hat leider nicht geklappt.", tryAgain: "Noch einmal versuchen",
            speaksOnlyEnglish: "Ich kann hier nur Englisch sprechen.", understandsOnlyEnglish: "Ich verstehe hier nur Englisch."),
        "es": AssistantPhrases(
            greeting: "Hola, {name}. ¿En qué puedo ayudarle?", question: "¿Sigue ahí?",
            apology: "Lo siento, algo ha salido mal. ¿Puede intentarlo otra vez?",
            notUnderstood: "Lo siento, no le he entendido. ¿Puede repetirlo?", filler: "Un momento.",
            toolFailed: "Lo siento, no ha funcionado.",
            tryAgain: "Intentarlo otra vez", speaksOnlyEnglish: "Aquí solo puedo hablar inglés.",
            understandsOnlyEnglish: "Aquí solo entiendo inglés."),
        "fr": AssistantPhrases(
            greeting: "Bonjour, {name}. Comment puis-je vous aider ?", question: "Êtes-vous toujours là ?",
            apology: "Désolé, quelque chose n’a pas fonctionné. Pouvez-vous réessayer ?",
            notUnderstood: "Désolé, je n’ai pas compris. Pouvez-vous répéter ?", filler: "Un instant.",
            toolFailed: "Désolé, cela n’a pas fonctionné.",
            tryAgain: "Réessayer", speaksOnlyEnglish: "Ici, je ne peux parler qu’anglais.",
            understandsOnlyEnglish: "Ici, je ne comprends que l’anglais."),
    ]
}

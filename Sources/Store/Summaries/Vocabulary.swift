/// What a summarizer knows of a language.
struct Vocabulary: Sendable {
    /// BCP 47.
    var language: String
    /// Words without a meaning of their own. They also tell which language is spoken.
    var stopWords: Set<String>
    /// Words with a meaning that are no things: they make no title and no tag.
    var notNouns: Set<String>
    /// What stands before a noun.
    var determiners: Set<String>
    /// What people begin a sentence with before they say something.
    var openers: Set<String>
    /// Days, months and the like: with one of them a task is more than an intention.
    var timeWords: Set<String>
    var actionCues: [ActionCue]
    /// Verbs that begin a task: `call`, `buy`, ….
    var taskVerbs: Set<String>
    /// What stands between a cue and its task.
    var taskLeads: Set<String>
    /// What is left over at a task's end.
    var taskTails: Set<String>
    /// What begins no task, whatever stands before it.
    var noTasks: Set<String>
    /// Who begins another clause.
    var subjects: Set<String>
    /// What ends a task inside a sentence, when it follows it as a word.
    var clauseEnds: Set<String>
    var phrases: Phrases

    /// Whether nouns are written with a capital.
    var capitalizesNouns: Bool { language == "de" }
    /// Whether a task's verb is its first word.
    var beginsTasksWithVerb: Bool { language == "en" }

    struct Phrases: Sendable {
        var and: String
        /// What a conversation without any topic is called.
        var conversation: String
        var emptyTitle: String
        var emptyText: String
        var user: String
        var assistant: String
        var quotes: (open: String, close: String)
    }

    func isContent(_ word: Word) -> Bool {
        !stopWords.contains(word.lower) && !openers.contains(word.lower) && (word.text.count > 1 || word.text.first?.isIdeographic == true)
    }
}

/// Words after which a task stands: "remind me to", "ich muss".
struct ActionCue: Sendable {
    enum Speaker: Sendable {
        case user, assistant, anyone
    }

    enum Strength {
        /// What follows is a task.
        case certain
        /// It is one if it has a verb for tasks or a time.
        case duty
        /// It is one if it has a verb for tasks.
        case wish
    }

    /// In small letters, one after the other.
    var words: [String]
    var speaker: Speaker
    var strength: Strength

    init(_ text: String, by speaker: Speaker = .anyone, is strength: Strength = .duty) {
        words = text.split(separator: " ").map(String.init)
        self.speaker = speaker
        self.strength = strength
    }
}

extension Vocabulary {
    private static let all = [english, german, french, spanish]

    /// The one whose small words are said most; English where none is.
    static func spoken(in sentences: [Sentence]) -> Vocabulary {
        var counts = [Int](repeating: 0, count: all.count)
        for word in sentences.lazy.flatMap(\.words).prefix(2_000) {
            for (index, vocabulary) in all.enumerated() where vocabulary.stopWords.contains(word.lower) { counts[index] += 1 }
        }
        var best = 0
        for index in counts.indices where counts[index] > counts[best] { best = index }
        return all[best]
    }

    static func set(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}

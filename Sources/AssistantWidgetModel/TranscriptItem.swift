/// A line of the conversation.
public struct TranscriptItem: Sendable, Hashable, Identifiable {
    public enum Kind: String, Sendable {
        /// What was said.
        case user, assistant
        /// What the user typed.
        case typed
        /// A message of another participant.
        case message
        /// What the user chose on a card.
        case note
    }

    /// How the speaking of an assistant's segment ended.
    public enum Spoken: String, Sendable {
        case completed, interrupted
    }

    public var id: String
    /// In milliseconds, by the clock of the events.
    public var at: Int
    public var kind: Kind
    /// The speaker's; empty if it has none.
    public var name = ""
    public var text: String
    /// Whether no further revision follows.
    public var isFinal = true
    /// Nil until an assistant has finished or was interrupted.
    public var spoken: Spoken?
    /// How far an interrupted segment was heard, in Unicode scalars.
    public var spokenChars: Int?
    /// Whether the segment has times, so that `heard` follows the voice.
    public var hasTimes = false
    /// How far it has been heard, and where the word that is being heard begins, in Unicode scalars.
    public var heard = 0
    public var wordStart = 0
    public var isPlaying = false

    public init(id: String, at: Int, kind: Kind, name: String = "", text: String) {
        self.id = id
        self.at = at
        self.kind = kind
        self.name = name
        self.text = text
    }

    public var isUser: Bool { kind == .user || kind == .typed }
}

/// What of a line was heard, is being heard, is still to come, and was never heard.
extension TranscriptItem {
    public struct Parts: Sendable, Hashable {
        public var heard = ""
        public var now = ""
        public var next = ""
        public var never = ""
    }

    public var parts: Parts {
        guard kind == .assistant else { return Parts(heard: text) }
        if spoken == .interrupted {
            let (heard, never) = Self.splitAtWord(text, spokenChars ?? heard)
            return Parts(heard: heard, never: never)
        }
        if spoken == .completed || !hasTimes { return Parts(heard: text) }
        let (begun, next) = Self.split(text, heard)
        guard isPlaying else { return Parts(heard: begun, next: next) }
        let (heard, now) = Self.splitAtWord(begun, wordStart)
        return Parts(heard: heard, now: now, next: next)
    }

    private static func split(_ text: String, _ chars: Int) -> (String, String) {
        let scalars = text.unicodeScalars
        return (String(scalars.prefix(max(chars, 0))), String(scalars.dropFirst(max(chars, 0))))
    }

    /// Spaces between the parts belong to the first, so that marks begin at words.
    private static func splitAtWord(_ text: String, _ chars: Int) -> (String, String) {
        let (before, after) = split(text, chars)
        let rest = after.unicodeScalars.drop { $0.properties.isWhitespace }
        return (before + String(after.unicodeScalars.dropLast(rest.count)), String(rest))
    }
}

/// A segment of a transcript as the gateway reports it (docs/protocol/transcripts.md).
public struct WidgetSegment: Sendable, Hashable {
    public var id: String
    public var kind: TranscriptItem.Kind
    public var text: String
    public var isFinal: Bool
    public var spoken: TranscriptItem.Spoken?
    public var spokenChars: Int?
    public var hasTimes: Bool

    public init(
        id: String, kind: TranscriptItem.Kind, text: String, isFinal: Bool, spoken: TranscriptItem.Spoken? = nil, spokenChars: Int? = nil,
        hasTimes: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.text = text
        self.isFinal = isFinal
        self.spoken = spoken
        self.spokenChars = spokenChars
        self.hasTimes = hasTimes
    }
}

/// The lines that a widget keeps: a conversation of an hour. More would make it slow.
public struct WidgetTranscript: Sendable, Hashable {
    public static let itemsMax = 600
    public static let charactersMax = 100_000
    private static let removedIDsMax = 1_000

    public private(set) var items: [TranscriptItem] = []
    /// Older lines that are not kept.
    public private(set) var removed = 0
    /// Later revisions of those are ignored.
    private var removedIDs: [String] = []

    public init() {}

    mutating func append(_ item: TranscriptItem) {
        items.append(item)
        trim()
    }

    /// Adds a segment, or replaces the line of an earlier revision.
    mutating func apply(_ segment: WidgetSegment, name: String, at now: Int) {
        guard !removedIDs.contains(segment.id) else { return }
        let index = items.lastIndex { $0.id == segment.id }
        var item = index.map { items[$0] } ?? TranscriptItem(id: segment.id, at: now, kind: segment.kind, text: "")
        item.kind = segment.kind
        item.name = name
        item.text = segment.text
        item.isFinal = segment.isFinal
        item.spoken = segment.spoken
        item.spokenChars = segment.spokenChars
        item.hasTimes = segment.kind == .assistant && segment.hasTimes
        if segment.spoken != nil { item.isPlaying = false }
        if let index { items[index] = item } else { items.append(item) }
        trim()
    }

    /// Notes how far a segment has been heard.
    ///
    /// - Parameters:
    ///   - chars: in Unicode scalars.
    ///   - word: that is being heard; nil if the voice pauses.
    mutating func heard(_ id: String, chars: Int, word: String?) {
        guard let index = items.lastIndex(where: { $0.id == id }), items[index].spoken != .interrupted else { return }
        guard items[index].heard != chars || items[index].isPlaying != (word != nil) else { return }
        // The lines before it have been heard completely, or never will be.
        for earlier in items.indices[..<index] { items[earlier].isPlaying = false }
        items[index].heard = chars
        items[index].wordStart = word.map { Self.start(of: $0, before: chars, in: items[index].text) } ?? chars
        items[index].isPlaying = word != nil
    }

    /// Where the last occurrence of a word before a position begins, in Unicode scalars.
    private static func start(of word: String, before end: Int, in text: String) -> Int {
        let begun = Array(text.unicodeScalars.prefix(end))
        let lowered = Array(String(String.UnicodeScalarView(begun)).lowercased().unicodeScalars)
        let wanted = Array(word.lowercased().unicodeScalars.drop { $0.properties.isWhitespace })
            .reversed().drop { $0.properties.isWhitespace }.reversed()
        for start in stride(from: lowered.count - wanted.count, through: 0, by: -1) where lowered[start...].starts(with: wanted) {
            return start
        }
        // A word with other punctuation than in the text: from the last space.
        return (begun.lastIndex { $0 == " " } ?? -1) + 1
    }

    private mutating func trim() {
        var characters = 0
        var first = items.count
        while first > 0, items.count - first < Self.itemsMax {
            characters += items[first - 1].text.utf16.count
            if characters > Self.charactersMax, first < items.count { break }
            first -= 1
        }
        guard first > 0 else { return }
        removedIDs = Array((removedIDs + items[..<first].map(\.id)).suffix(Self.removedIDsMax))
        items.removeFirst(first)
        removed += first
    }
}

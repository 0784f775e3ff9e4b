/// A line of the conversation.
public struct TranscriptItem: Sendable, Hashable, Identifiable {
    public enum Kind: String, Sendable {
        /// Speech of a user or an assistant.
        case user, assistant
        /// A text that the user typed.
        case typed
        /// A message of another participant.
        case message
        /// The user's choice on a card.
        case note
    }

    /// The way in which the playout of an assistant's segment ended.
    public enum Spoken: String, Sendable {
        case completed, interrupted
    }

    public var id: String
    /// The time in milliseconds, by the clock of the events.
    public var at: Int
    public var kind: Kind
    /// The speaker's name; empty if it has none.
    public var name = ""
    public var text: String
    /// Whether no further revision follows.
    public var isFinal = true
    /// Nil until an assistant has finished or was interrupted.
    public var spoken: Spoken?
    /// The part of an interrupted segment that was heard, in Unicode scalars.
    public var spokenChars: Int?
    /// Whether the segment has word times, so that `heard` follows the voice.
    public var hasTimes = false
    /// The part that has been heard so far, and the start of the word being spoken, in Unicode scalars.
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

    /// Whether it is the user's: what was said, typed or chosen on a card.
    public var isUser: Bool { kind == .user || kind == .typed || kind == .note }
}

/// Divides a line into the text that was heard, the current word, the text still to come, and the text that is never heard.
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

    /// Splits at a word boundary. Spaces between the parts belong to the first one, so that marks begin at words.
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

/// The latest lines of the conversation, about an hour. More lines would slow down the widget.
public struct WidgetTranscript: Sendable, Hashable {
    public static let itemsMax = 600
    public static let charactersMax = 100_000
    private static let removedIDsMax = 1_000

    public private(set) var items: [TranscriptItem] = []
    /// The number of older lines that were dropped.
    public private(set) var removed = 0
    /// The ids of dropped lines, whose later revisions are ignored.
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

    /// Updates the part of a segment that has been heard.
    ///
    /// - Parameters:
    ///   - chars: the part that was heard, in Unicode scalars.
    ///   - word: the word being spoken; nil during a pause.
    mutating func heard(_ id: String, chars: Int, word: String?) {
        guard let index = items.lastIndex(where: { $0.id == id }), items[index].spoken != .interrupted else { return }
        guard items[index].heard != chars || items[index].isPlaying != (word != nil) else { return }
        // Earlier lines have been heard completely, or never will be.
        for earlier in items.indices[..<index] { items[earlier].isPlaying = false }
        items[index].heard = chars
        items[index].wordStart = word.map { Self.start(of: $0, before: chars, in: items[index].text) } ?? chars
        items[index].isPlaying = word != nil
    }

    /// Returns the start of the last occurrence of a word before a position, in Unicode scalars.
    private static func start(of word: String, before end: Int, in text: String) -> Int {
        let begun = Array(text.unicodeScalars.prefix(end))
        let lowered = Array(String(String.UnicodeScalarView(begun)).lowercased().unicodeScalars)
        let wanted = Array(word.lowercased().unicodeScalars.drop { $0.properties.isWhitespace })
            .reversed().drop { $0.properties.isWhitespace }.reversed()
        for start in stride(from: lowered.count - wanted.count, through: 0, by: -1) where lowered[start...].starts(with: wanted) {
            return start
        }
        // The punctuation differs from the text: use the last space.
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

internal import Wire

/// The languages with rules for speech.
enum SpokenLanguages {
    private static let table: [String: any SpokenGrammar] = [
        "en": EnglishSpeech(), "de": GermanSpeech(), "fr": FrenchSpeech(), "es": SpanishSpeech(),
    ]

    /// Nil for a language without rules.
    ///
    /// - Parameter language: a BCP 47 tag.
    static func grammar(of language: String) -> (any SpokenGrammar)? { table[LanguageTag.primary(of: language)] }
}

/// How a language speaks numbers, times, dates and money.
protocol SpokenGrammar: Sendable {
    var vocabulary: SpokenVocabulary { get }

    /// - Parameter number: 0 to 999,999,999,999,999.
    func cardinal(_ number: Int) -> String
    /// A number before a noun: "ein", "veintiún".
    func counting(_ number: Int, isFeminine: Bool) -> String
    /// A number that ends in one before a word, which may be a noun: "ein Apfel"; nil if nothing changes.
    func counting(_ number: Int, before noun: String) -> String?
    /// The digits of a fraction.
    func decimals(_ digits: String) -> String
    func ordinal(_ number: Int) -> String
    /// The number of an ordinal such as "21st", and how it is spoken; nil if it is none.
    func ordinal(written: String) -> String?
    /// An ordinal that is written with a full stop, as in "der 2. Weltkrieg"; nil if the word before it does not make it one.
    func ordinal(_ number: Int, after before: String) -> String?
    func year(_ year: Int) -> String
    /// "1980s"; nil in languages without such plurals.
    func decade(_ year: Int) -> String?
    /// - Parameter half: "am" or "pm"; nil for a time of 24 hours.
    func time(_ hour: Int, _ minute: Int, half: String?) -> String
    /// - Parameter before: the word before the date, in lower case.
    func date(_ date: WrittenDate, after before: String) -> String
    func money(_ whole: Int, _ hundredths: Int, _ currency: SpokenCurrency) -> String
    /// Nil if `numerator`/`denominator` is not spoken as a fraction.
    func fraction(_ numerator: Int, _ denominator: Int) -> String?
    /// An abbreviation whose meaning depends on the words around it, such as "No. 5" and "St. Louis"; nil if it is none.
    ///
    /// - Parameters:
    ///   - word: without its full stop.
    ///   - before: the words before it, empty at the beginning of a line.
    ///   - after: the word after it.
    func abbreviation(_ word: String, before: ArraySlice<String>, after: String) -> String?
}

extension SpokenGrammar {
    func abbreviation(_ word: String, before: ArraySlice<String>, after: String) -> String? { nil }
    func counting(_ number: Int, isFeminine: Bool) -> String { cardinal(number) }
    func counting(_ number: Int, before noun: String) -> String? { nil }
    func decimals(_ digits: String) -> String { self.digits(digits) }
    func year(_ year: Int) -> String { cardinal(year) }
    func ordinal(_ number: Int, after before: String) -> String? { nil }
    func decade(_ year: Int) -> String? { nil }

    /// Digits one by one. Other characters are omitted.
    func digits(_ text: some StringProtocol) -> String {
        text.compactMap(\.wholeNumberValue).filter { 0...9 ~= $0 }.map(cardinal).joined(separator: " ")
    }
}

/// A date whose month is 1 to 12 and whose day is 1 to 31.
struct WrittenDate: Sendable, Hashable {
    var day: Int
    var month: Int
    var year: Int?

    init?(day: Int?, month: Int?, year: Int? = nil) {
        guard let day, let month, 1...31 ~= day, 1...12 ~= month else { return nil }
        (self.day, self.month, self.year) = (day, month, year)
    }
}

/// A noun that follows numbers.
struct SpokenUnit: Sendable, Hashable {
    let one: String
    let many: String
    let isFeminine: Bool

    init(_ one: String, _ many: String? = nil, isFeminine: Bool = false) {
        self.one = one
        self.many = many ?? one
        self.isFeminine = isFeminine
    }
}

struct SpokenCurrency: Sendable, Hashable {
    let unit: SpokenUnit
    /// Nil if there are no hundredths.
    let hundredth: SpokenUnit?

    init(_ unit: SpokenUnit, _ hundredth: SpokenUnit? = nil) {
        self.unit = unit
        self.hundredth = hundredth
    }
}

/// The words of a language.
struct SpokenVocabulary: Sendable {
    /// The separator of fractions in numbers.
    var decimal: Character
    /// Whether groups of digits may be separated by spaces.
    var hasSpacedGroups = false
    /// Of symbols, which may be words of their own or stand between others.
    var symbols: [Character: String]
    /// Names of what numbers, ranges and addresses contain.
    var names: Names
    /// January first.
    var months: [String]
    /// Additional forms of months in lower case, such as "nov".
    var monthForms: [String: Int]
    /// As written, with the characters that number and unit share ("km", "°C").
    var units: [String: SpokenUnit]
    /// By symbol or code ("€", "EUR").
    var currencies: [String: SpokenCurrency]
    /// As written, without the last full stop.
    var abbreviations: [String: String]
    /// Words in lower case whose numbers are spoken digit by digit.
    var codeWords: Set<String>

    struct Names: Sendable {
        var minus: String
        var plus: String
        var point: String
        /// Between the ends of a range.
        var to: String
        /// Between the parts of addresses.
        var dot: String
        var dash: String
        var slash: String
        var at: String
        var number: String
        var hashtag: String
    }
}

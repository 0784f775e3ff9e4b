/// German numbers, times, dates and money.
struct GermanSpeech: SpokenGrammar {
    private static let small = [
        "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn",
        "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
    ]
    private static let tens = ["", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
    private static let scales = [
        (1_000_000_000_000, "Billion", "Billionen"), (1_000_000_000, "Milliarde", "Milliarden"), (1_000_000, "Million", "Millionen"),
    ]

    let vocabulary = SpokenVocabulary.german

    func cardinal(_ number: Int) -> String {
        var words: [String] = []
        var rest = number
        for (scale, one, many) in Self.scales where rest >= scale {
            words += rest / scale == 1 ? ["eine", one] : [below(million: rest / scale), many]
            rest %= scale
        }
        if rest > 0 || words.isEmpty { words.append(below(million: rest)) }
        return words.joined(separator: " ")
    }

    private func below(million number: Int) -> String {
        let (thousands, rest) = (number / 1_000, number % 1_000)
        let head = thousands == 0 ? "" : (thousands == 1 ? "ein" : below(thousand: thousands, isLast: false)) + "tausend"
        return head + (rest > 0 || thousands == 0 ? below(thousand: rest, isLast: true) : "")
    }

    /// - Parameter isLast: whether a final one is "eins".
    private func below(thousand number: Int, isLast: Bool) -> String {
        let (hundreds, rest) = (number / 100, number % 100)
        let head = hundreds == 0 ? "" : (hundreds == 1 ? "ein" : Self.small[hundreds]) + "hundert"
        if rest == 0, hundreds > 0 { return head }
        if rest == 1 { return head + (isLast ? "eins" : "ein") }
        if rest < 20 { return head + Self.small[rest] }
        let one = rest % 10 == 1 ? "ein" : Self.small[rest % 10]
        return head + (rest % 10 == 0 ? "" : one + "und") + Self.tens[rest / 10]
    }

    func counting(_ number: Int, isFeminine: Bool) -> String { number == 1 ? (isFeminine ? "eine" : "ein") : cardinal(number) }

    /// Nouns have a capital letter; those in "-e" are taken as feminine.
    func counting(_ number: Int, before noun: String) -> String? {
        number == 1 && noun.first?.isUppercase == true ? counting(1, isFeminine: noun.hasSuffix("e")) : nil
    }

    /// In the nominative after an article: "der erste".
    func ordinal(_ number: Int) -> String {
        let words = cardinal(number)
        let irregular = ["eins": "erste", "drei": "dritte", "sieben": "siebte", "acht": "achte"]
        for (word, ordinal) in irregular where words.hasSuffix(word) && (number % 100 < 20) { return words.dropLast(word.count) + ordinal }
        return words + (1...19 ~= number % 100 ? "te" : "ste")
    }

    /// German ordinals are written with a full stop, which only the context tells from that of a sentence. This is "90er", "1990er".
    func ordinal(written: String) -> String? {
        guard written.hasSuffix("er"), let number = Int(written.dropLast(2)), 10...2_090 ~= number, number % 10 == 0 else { return nil }
        return (1_100...2_099 ~= number ? year(number) : cardinal(number)) + "er"
    }

    func ordinal(_ number: Int, after before: String) -> String? {
        Self.dative.contains(before) ? ordinal(number) + "n" : ["der", "die", "das"].contains(before) ? ordinal(number) : nil
    }

    /// "neunzehnhundertvierundachtzig".
    func year(_ year: Int) -> String {
        guard 1_100...1_999 ~= year else { return cardinal(year) }
        return cardinal(year / 100) + "hundert" + (year % 100 > 0 ? cardinal(year % 100) : "")
    }

    func time(_ hour: Int, _ minute: Int, half: String?) -> String {
        (hour == 1 ? "ein" : cardinal(hour)) + " Uhr" + (minute > 0 ? " " + cardinal(minute) : "")
    }

    func date(_ date: WrittenDate, after before: String) -> String {
        let ending = Self.dative.contains(before) ? "n" : ["der", "die", "das"].contains(before) ? "" : "r"
        return "\(ordinal(date.day))\(ending) \(vocabulary.months[date.month - 1])" + (date.year.map { " " + year($0) } ?? "")
    }

    /// Words before an ordinal in the dative or accusative.
    private static let dative: Set<String> = ["am", "vom", "zum", "beim", "dem", "den", "im", "bis", "ab", "seit"]

    func money(_ whole: Int, _ hundredths: Int, _ currency: SpokenCurrency) -> String {
        let main = counted(whole, currency.unit)
        guard hundredths > 0, let unit = currency.hundredth else { return main }
        return whole == 0 ? counted(hundredths, unit) : main + " " + cardinal(hundredths)
    }

    private func counted(_ number: Int, _ unit: SpokenUnit) -> String {
        "\(counting(number, isFeminine: unit.isFeminine)) \(number == 1 ? unit.one : unit.many)"
    }

    func fraction(_ numerator: Int, _ denominator: Int) -> String? {
        guard 1..<denominator ~= numerator, 2...20 ~= denominator || denominator == 100 else { return nil }
        if denominator == 2 { return "einhalb" }
        return (numerator == 1 ? "ein" : cardinal(numerator)) + " " + ordinal(denominator).prefix(1).uppercased()
            + ordinal(denominator).dropFirst() + "l"
    }

    func abbreviation(_ word: String, before: ArraySlice<String>, after: String) -> String? {
        guard after.first?.isDigit == true else { return nil }
        return ["Nr": "Nummer", "nr": "Nummer", "S": "Seite", "Abb": "Abbildung", "Kap": "Kapitel"][word]
    }
}

extension SpokenVocabulary {
    fileprivate static let german = SpokenVocabulary(
        decimal: ",",
        symbols: [
            "&": "und", "@": "at", "#": "Nummer", "%": "Prozent", "+": "plus", "=": "gleich", "→": "nach", "⇒": "folgt", "×": "mal",
            "*": "mal", "÷": "geteilt durch", "±": "plus minus", "≈": "etwa", "~": "etwa", "<": "kleiner als", ">": "größer als",
            "≤": "höchstens", "≥": "mindestens", "°": "Grad", "§": "Paragraf", "−": "minus",
        ],
        names: Names(
            minus: "minus", plus: "plus", point: "Komma", to: "bis", dot: "Punkt", dash: "Minus", slash: "Schrägstrich", at: "at",
            number: "Nummer", hashtag: "Hashtag"),
        months: [
            "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember",
        ],
        monthForms: ["jan": 1, "feb": 2, "apr": 4, "aug": 8, "sept": 9, "sep": 9, "okt": 10, "nov": 11, "dez": 12, "jänner": 1],
        units: [
            "%": .init("Prozent"), "km": .init("Kilometer"), "m": .init("Meter"), "cm": .init("Zentimeter"), "mm": .init("Millimeter"),
            "m²": .init("Quadratmeter"), "km²": .init("Quadratkilometer"), "m³": .init("Kubikmeter"), "g": .init("Gramm"),
            "kg": .init("Kilogramm"), "mg": .init("Milligramm"), "t": .init("Tonne", "Tonnen", isFeminine: true), "l": .init("Liter"),
            "ml": .init("Milliliter"), "°": .init("Grad"), "°C": .init("Grad Celsius"), "°F": .init("Grad Fahrenheit"),
            "km/h": .init("Kilometer pro Stunde", "Kilometer pro Stunde"), "m/s": .init("Meter pro Sekunde"), "Hz": .init("Hertz"),
            "kHz": .init("Kilohertz"), "MHz": .init("Megahertz"), "GHz": .init("Gigahertz"), "kB": .init("Kilobyte"),
            "KB": .init("Kilobyte"),
            "MB": .init("Megabyte"), "GB": .init("Gigabyte"), "TB": .init("Terabyte"), "W": .init("Watt"), "kW": .init("Kilowatt"),
            "kWh": .init("Kilowattstunde", "Kilowattstunden", isFeminine: true), "V": .init("Volt"),
            "h": .init("Stunde", "Stunden", isFeminine: true), "Std": .init("Stunde", "Stunden", isFeminine: true),
            "min": .init("Minute", "Minuten", isFeminine: true), "Min": .init("Minute", "Minuten", isFeminine: true),
            "s": .init("Sekunde", "Sekunden", isFeminine: true), "ms": .init("Millisekunde", "Millisekunden", isFeminine: true),
            "Mio": .init("Million", "Millionen", isFeminine: true), "Mrd": .init("Milliarde", "Milliarden", isFeminine: true),
        ],
        currencies: [
            "€": .init(.init("Euro"), .init("Cent")), "EUR": .init(.init("Euro"), .init("Cent")),
            "$": .init(.init("Dollar"), .init("Cent")),
            "USD": .init(.init("Dollar"), .init("Cent")), "£": .init(.init("Pfund"), .init("Penny", "Pence")),
            "GBP": .init(.init("Pfund"), .init("Penny", "Pence")), "¥": .init(.init("Yen")),
            "CHF": .init(.init("Franken"), .init("Rappen")),
        ],
        abbreviations: [
            "z.B": "zum Beispiel", "d.h": "das heißt", "u.a": "unter anderem", "usw": "und so weiter", "bzw": "beziehungsweise",
            "ca": "circa", "Dr": "Doktor", "Prof": "Professor", "Hr": "Herr", "Fr": "Frau", "vgl": "vergleiche", "inkl": "inklusive",
            "ggf": "gegebenenfalls", "evtl": "eventuell", "Tel": "Telefon", "max": "maximal", "mind": "mindestens", "und/oder": "und oder",
            "St": "Sankt", "vs": "gegen", "etc": "et cetera",
        ],
        codeWords: [
            "zimmer", "raum", "pin", "code", "nummer", "durchwahl", "plz", "postleitzahl", "konto", "auftrag", "bestellung", "ticket",
            "kennung", "passwort", "flug", "rechnung", "kundennummer", "auftragsnummer", "bestellnummer", "zimmernummer", "telefonnummer",
        ])
}

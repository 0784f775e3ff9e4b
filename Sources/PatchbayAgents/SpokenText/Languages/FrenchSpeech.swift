/// French numbers, times, dates and money, as spoken in France.
struct FrenchSpeech: SpokenGrammar {
    private static let small = [
        "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize", "quatorze",
        "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
    ]
    private static let tens = ["", "", "vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt"]
    private static let scales = [
        (1_000_000_000_000, "billion"), (1_000_000_000, "milliard"), (1_000_000, "million"),
    ]

    let vocabulary = SpokenVocabulary.french

    func cardinal(_ number: Int) -> String {
        var words: [String] = []
        var rest = number
        for (scale, name) in Self.scales where rest >= scale {
            words += [below(thousand: rest / scale, isLast: true), rest / scale > 1 ? name + "s" : name]
            rest %= scale
        }
        if rest >= 1_000 {
            words += rest / 1_000 == 1 ? ["mille"] : [below(thousand: rest / 1_000, isLast: false), "mille"]
            rest %= 1_000
        }
        if rest > 0 || words.isEmpty { words.append(below(thousand: rest, isLast: true)) }
        return words.joined(separator: " ")
    }

    /// - Parameter isLast: "cent" and "quatre-vingt" take a plural, which they do not before "mille".
    private func below(thousand number: Int, isLast: Bool) -> String {
        let (hundreds, rest) = (number / 100, number % 100)
        if hundreds == 0 { return below(hundred: rest, isLast: isLast) }
        let head = hundreds == 1 ? "cent" : Self.small[hundreds] + (rest == 0 && isLast ? " cents" : " cent")
        return rest == 0 ? head : head + " " + below(hundred: rest, isLast: isLast)
    }

    private func below(hundred number: Int, isLast: Bool) -> String {
        if number < 20 { return Self.small[number] }
        let ten = number / 10
        let rest = ten == 7 || ten == 9 ? number % 10 + 10 : number % 10
        if rest == 0 { return Self.tens[ten] + (ten == 8 && isLast ? "s" : "") }
        return Self.tens[ten] + ((rest == 1 || rest == 11) && ten < 8 ? " et " : "-") + Self.small[rest]
    }

    func counting(_ number: Int, isFeminine: Bool) -> String {
        let words = cardinal(number)
        return isFeminine && (words == "un" || words.hasSuffix(" un")) ? words + "e" : words
    }

    /// "trois virgule quatorze".
    func decimals(_ digits: String) -> String {
        digits.count <= 2 && !digits.hasPrefix("0") ? Int(digits).map(cardinal) ?? "" : self.digits(digits)
    }

    func ordinal(_ number: Int) -> String {
        if number == 1 { return "premier" }
        var words = cardinal(number)
        if words.hasSuffix("quatre-vingts") || words.hasSuffix("cents") || words.hasSuffix("e") { words.removeLast() }
        return words + (words.hasSuffix("cinq") ? "u" : "") + "ième"
    }

    func ordinal(written: String) -> String? {
        let suffix = written.drop(while: \.isDigit)
        guard let number = Int(written.dropLast(suffix.count)), number < 1_000_000 else { return nil }
        switch suffix {
        case "er": return number == 1 ? "premier" : nil
        case "re", "ère": return number == 1 ? "première" : nil
        case "e", "ème", "ième": return withV(ordinal(number))
        default: return nil
        }
    }

    private func withV(_ ordinal: String) -> String { ordinal.hasSuffix("neufième") ? ordinal.dropLast(5) + "vième" : ordinal }

    func time(_ hour: Int, _ minute: Int, half: String?) -> String {
        "\(counting(hour, isFeminine: true)) heure\(hour > 1 ? "s" : "")" + (minute > 0 ? " " + counting(minute, isFeminine: true) : "")
    }

    func date(_ date: WrittenDate, after before: String) -> String {
        let day = date.day == 1 ? "premier" : cardinal(date.day)
        return "\(day) \(vocabulary.months[date.month - 1])" + (date.year.map { " " + year($0) } ?? "")
    }

    func money(_ whole: Int, _ hundredths: Int, _ currency: SpokenCurrency) -> String {
        let main = counted(whole, currency.unit)
        guard hundredths > 0, let unit = currency.hundredth else { return main }
        return whole == 0 ? counted(hundredths, unit) : main + " " + cardinal(hundredths)
    }

    private func counted(_ number: Int, _ unit: SpokenUnit) -> String {
        let name = number < 2 ? unit.one : unit.many
        let preposition = number > 0 && number % 1_000_000 == 0 ? ("aeiouy".contains(name.first ?? " ") ? "d’" : "de ") : ""
        return "\(counting(number, isFeminine: unit.isFeminine)) \(preposition)\(name)"
    }

    func fraction(_ numerator: Int, _ denominator: Int) -> String? {
        guard 1..<denominator ~= numerator, 2...20 ~= denominator || denominator == 100 else { return nil }
        let part =
            switch denominator {
            case 2: "demi"
            case 3: "tiers"
            case 4: numerator == 1 ? "quart" : "quarts"
            default: withV(ordinal(denominator)) + (numerator == 1 ? "" : "s")
            }
        return cardinal(numerator) + " " + part
    }
}

extension SpokenVocabulary {
    fileprivate static let french = SpokenVocabulary(
        decimal: ",", hasSpacedGroups: true,
        symbols: [
            "&": "et", "@": "arobase", "#": "numéro", "%": "pour cent", "+": "plus", "=": "égale", "→": "vers", "⇒": "donc", "×": "fois",
            "*": "fois", "÷": "divisé par", "±": "plus ou moins", "≈": "environ", "~": "environ", "<": "inférieur à", ">": "supérieur à",
            "≤": "au plus", "≥": "au moins", "°": "degrés", "§": "paragraphe", "−": "moins",
        ],
        names: Names(
            minus: "moins", plus: "plus", point: "virgule", to: "à", dot: "point", dash: "tiret", slash: "barre oblique", at: "arobase",
            number: "numéro", hashtag: "hashtag"),
        months: [
            "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre",
        ],
        monthForms: ["janv": 1, "févr": 2, "avr": 4, "juil": 7, "sept": 9, "oct": 10, "nov": 11, "déc": 12],
        units: [
            "%": .init("pour cent"), "km": .init("kilomètre", "kilomètres"), "m": .init("mètre", "mètres"),
            "cm": .init("centimètre", "centimètres"), "mm": .init("millimètre", "millimètres"), "m²": .init("mètre carré", "mètres carrés"),
            "km²": .init("kilomètre carré", "kilomètres carrés"), "m³": .init("mètre cube", "mètres cubes"),
            "g": .init("gramme", "grammes"),
            "kg": .init("kilogramme", "kilogrammes"), "mg": .init("milligramme", "milligrammes"),
            "t": .init("tonne", "tonnes", isFeminine: true), "l": .init("litre", "litres"), "L": .init("litre", "litres"),
            "ml": .init("millilitre", "millilitres"), "°": .init("degré", "degrés"), "°C": .init("degré Celsius", "degrés Celsius"),
            "km/h": .init("kilomètre par heure", "kilomètres par heure"), "m/s": .init("mètre par seconde", "mètres par seconde"),
            "Hz": .init("hertz"), "kHz": .init("kilohertz"), "MHz": .init("mégahertz"), "GHz": .init("gigahertz"),
            "Ko": .init("kilooctet", "kilooctets"), "Mo": .init("mégaoctet", "mégaoctets"), "Go": .init("gigaoctet", "gigaoctets"),
            "GB": .init("gigaoctet", "gigaoctets"), "MB": .init("mégaoctet", "mégaoctets"), "To": .init("téraoctet", "téraoctets"),
            "W": .init("watt", "watts"), "kW": .init("kilowatt", "kilowatts"), "kWh": .init("kilowattheure", "kilowattheures"),
            "h": .init("heure", "heures", isFeminine: true), "min": .init("minute", "minutes", isFeminine: true),
            "s": .init("seconde", "secondes", isFeminine: true),
        ],
        currencies: [
            "€": .init(.init("euro", "euros"), .init("centime", "centimes")),
            "EUR": .init(.init("euro", "euros"), .init("centime", "centimes")),
            "$": .init(.init("dollar", "dollars"), .init("cent", "cents")),
            "USD": .init(.init("dollar", "dollars"), .init("cent", "cents")),
            "£": .init(.init("livre", "livres", isFeminine: true), .init("penny", "pence")), "¥": .init(.init("yen", "yens")),
            "CHF": .init(.init("franc suisse", "francs suisses"), .init("centime", "centimes")),
        ],
        abbreviations: [
            "M": "Monsieur", "Mme": "Madame", "Mlle": "Mademoiselle", "Dr": "Docteur", "Pr": "Professeur", "etc": "et cetera",
            "env": "environ", "p.ex": "par exemple", "c.-à-d": "c’est-à-dire", "St": "Saint", "Ste": "Sainte", "tél": "téléphone",
            "Tél": "Téléphone", "max": "maximum", "et/ou": "et ou", "vs": "contre", "rdv": "rendez-vous", "n°": "numéro", "N°": "Numéro",
        ],
        codeWords: [
            "chambre", "salle", "code", "pin", "numéro", "poste", "postal", "compte", "commande", "billet", "référence", "vol", "facture",
            "n°", "dossier",
        ])
}

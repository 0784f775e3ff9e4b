/// Spanish numbers, times, dates and money.
struct SpanishSpeech: SpokenGrammar {
    private static let small = [
        "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "trece", "catorce",
        "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno", "veintidós", "veintitrés", "veinticuatro",
        "veinticinco", "veintiséis", "veintisiete", "veintiocho", "veintinueve",
    ]
    private static let tens = ["", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
    private static let hundreds = [
        "", "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos", "ochocientos",
        "novecientos",
    ]
    private static let ordinals = [
        "", "primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "séptimo", "octavo", "noveno", "décimo",
    ]
    private static let scales = [(1_000_000_000_000, "billón", "billones"), (1_000_000, "millón", "millones")]

    let vocabulary = SpokenVocabulary.spanish

    func cardinal(_ number: Int) -> String {
        var words: [String] = []
        var rest = number
        for (scale, one, many) in Self.scales where rest >= scale {
            words += rest / scale == 1 ? ["un", one] : [counting(rest / scale, isFeminine: false), many]
            rest %= scale
        }
        if rest >= 1_000 {
            words += rest / 1_000 == 1 ? ["mil"] : [counting(rest / 1_000, isFeminine: false), "mil"]
            rest %= 1_000
        }
        if rest > 0 || words.isEmpty { words.append(below(thousand: rest)) }
        return words.joined(separator: " ")
    }

    private func below(thousand number: Int) -> String {
        if number == 100 { return "cien" }
        let rest = number % 100
        let head = Self.hundreds[number / 100]
        if rest == 0, number > 0 { return head }
        let tail = rest < 30 ? Self.small[rest] : Self.tens[rest / 10] + (rest % 10 > 0 ? " y " + Self.small[rest % 10] : "")
        return head.isEmpty ? tail : head + " " + tail
    }

    func counting(_ number: Int, isFeminine: Bool) -> String {
        let words = cardinal(number)
        guard words.hasSuffix("uno") else { return words }
        if isFeminine { return words.dropLast() + "a" }
        return words.hasSuffix("veintiuno") ? words.dropLast(3) + "ún" : String(words.dropLast())
    }

    /// Words of up to three letters are prepositions, conjunctions and the like.
    func counting(_ number: Int, before noun: String) -> String? {
        guard noun.count > 3, noun.first?.isLowercase == true else { return nil }
        return counting(number, isFeminine: ["a", "as", "ión", "iones"].contains { noun.hasSuffix($0) })
    }

    /// "tres coma catorce".
    func decimals(_ digits: String) -> String {
        digits.count <= 2 && !digits.hasPrefix("0") ? Int(digits).map(cardinal) ?? "" : self.digits(digits)
    }

    /// Ordinals beyond ten are seldom spoken.
    func ordinal(_ number: Int) -> String { 1...10 ~= number ? Self.ordinals[number] : cardinal(number) }

    func ordinal(written: String) -> String? {
        let suffix = written.drop(while: \.isDigit)
        guard let number = Int(written.dropLast(suffix.count)), number < 1_000_000 else { return nil }
        switch suffix {
        case "º", ".º", "o": return ordinal(number)
        case "ª", ".ª", "a": return 1...10 ~= number ? ordinal(number).dropLast() + "a" : ordinal(number)
        case "er", ".er": return [1: "primer", 3: "tercer"][number]
        default: return nil
        }
    }

    func time(_ hour: Int, _ minute: Int, half: String?) -> String {
        counting(hour, isFeminine: true) + (minute > 0 ? " y " + cardinal(minute) : " en punto")
    }

    func date(_ date: WrittenDate, after before: String) -> String {
        let day = date.day == 1 ? "primero" : cardinal(date.day)
        return "\(day) de \(vocabulary.months[date.month - 1])" + (date.year.map { " de " + year($0) } ?? "")
    }

    func money(_ whole: Int, _ hundredths: Int, _ currency: SpokenCurrency) -> String {
        let main = counted(whole, currency.unit)
        guard hundredths > 0, let unit = currency.hundredth else { return main }
        return whole == 0 ? counted(hundredths, unit) : main + " con " + counted(hundredths, unit)
    }

    private func counted(_ number: Int, _ unit: SpokenUnit) -> String {
        let preposition = number > 0 && number % 1_000_000 == 0 ? "de " : ""
        return "\(counting(number, isFeminine: unit.isFeminine)) \(preposition)\(number == 1 ? unit.one : unit.many)"
    }

    func fraction(_ numerator: Int, _ denominator: Int) -> String? {
        guard 1..<denominator ~= numerator, 2...10 ~= denominator else { return nil }
        let part =
            switch denominator {
            case 2: "medio"
            case 3: "tercio"
            default: Self.ordinals[denominator]
            }
        return counting(numerator, isFeminine: false) + " " + part + (numerator == 1 ? "" : "s")
    }
}

extension SpokenVocabulary {
    fileprivate static let spanish = SpokenVocabulary(
        decimal: ",", hasSpacedGroups: true,
        symbols: [
            "&": "y", "@": "arroba", "#": "número", "%": "por ciento", "+": "más", "=": "igual a", "→": "a", "⇒": "entonces", "×": "por",
            "*": "por", "÷": "dividido por", "±": "más o menos", "≈": "aproximadamente", "~": "aproximadamente", "<": "menor que",
            ">": "mayor que", "≤": "como máximo", "≥": "como mínimo", "°": "grados", "§": "sección", "−": "menos",
        ],
        names: Names(
            minus: "menos", plus: "más", point: "coma", to: "a", dot: "punto", dash: "guion", slash: "barra", at: "arroba",
            number: "número",
            hashtag: "hashtag"),
        months: [
            "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
        ],
        monthForms: ["ene": 1, "feb": 2, "abr": 4, "ago": 8, "sept": 9, "oct": 10, "nov": 11, "dic": 12],
        units: [
            "%": .init("por ciento"), "km": .init("kilómetro", "kilómetros"), "m": .init("metro", "metros"),
            "cm": .init("centímetro", "centímetros"), "mm": .init("milímetro", "milímetros"),
            "m²": .init("metro cuadrado", "metros cuadrados"),
            "km²": .init("kilómetro cuadrado", "kilómetros cuadrados"), "m³": .init("metro cúbico", "metros cúbicos"),
            "g": .init("gramo", "gramos"), "kg": .init("kilogramo", "kilogramos"), "mg": .init("miligramo", "miligramos"),
            "t": .init("tonelada", "toneladas", isFeminine: true), "l": .init("litro", "litros"), "L": .init("litro", "litros"),
            "ml": .init("mililitro", "mililitros"), "°": .init("grado", "grados"), "°C": .init("grado Celsius", "grados Celsius"),
            "km/h": .init("kilómetro por hora", "kilómetros por hora"), "m/s": .init("metro por segundo", "metros por segundo"),
            "Hz": .init("hercio", "hercios"), "kHz": .init("kilohercio", "kilohercios"), "MHz": .init("megahercio", "megahercios"),
            "GHz": .init("gigahercio", "gigahercios"), "KB": .init("kilobyte", "kilobytes"), "MB": .init("megabyte", "megabytes"),
            "GB": .init("gigabyte", "gigabytes"), "TB": .init("terabyte", "terabytes"), "W": .init("vatio", "vatios"),
            "kW": .init("kilovatio", "kilovatios"), "kWh": .init("kilovatio hora", "kilovatios hora"),
            "h": .init("hora", "horas", isFeminine: true), "min": .init("minuto", "minutos"), "s": .init("segundo", "segundos"),
        ],
        currencies: [
            "€": .init(.init("euro", "euros"), .init("céntimo", "céntimos")),
            "EUR": .init(.init("euro", "euros"), .init("céntimo", "céntimos")),
            "$": .init(.init("dólar", "dólares"), .init("centavo", "centavos")),
            "USD": .init(.init("dólar", "dólares"), .init("centavo", "centavos")),
            "£": .init(.init("libra", "libras", isFeminine: true), .init("penique", "peniques")), "¥": .init(.init("yen", "yenes")),
        ],
        abbreviations: [
            "Sr": "Señor", "Sra": "Señora", "Srta": "Señorita", "Dr": "Doctor", "Dra": "Doctora", "Ud": "usted", "Uds": "ustedes",
            "etc": "etcétera", "p.ej": "por ejemplo", "aprox": "aproximadamente", "tel": "teléfono", "Tel": "Teléfono", "máx": "máximo",
            "mín": "mínimo", "y/o": "y o", "vs": "contra", "núm": "número", "Avda": "Avenida", "Av": "Avenida",
        ],
        codeWords: [
            "habitación", "sala", "código", "pin", "número", "núm", "extensión", "postal", "cuenta", "pedido", "billete", "referencia",
            "vuelo", "factura",
        ])
}

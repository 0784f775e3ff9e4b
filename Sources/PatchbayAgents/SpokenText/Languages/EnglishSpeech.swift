/// English numbers, times, dates and money, as spoken in America. Compounds have no hyphens, because synthesizers pause at some.
struct EnglishSpeech: SpokenGrammar {
    private static let small = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
        "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ]
    private static let tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    private static let scales = [(1_000_000_000_000, "trillion"), (1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand")]
    private static let ordinals = [
        "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
    ]

    let vocabulary = SpokenVocabulary.english

    func cardinal(_ number: Int) -> String {
        var words: [String] = []
        var rest = number
        for (scale, name) in Self.scales where rest >= scale {
            words += [cardinal(rest / scale), name]
            rest %= scale
        }
        if rest >= 100 {
            words += [Self.small[rest / 100], "hundred"]
            rest %= 100
        }
        if rest >= 20 {
            words.append(Self.tens[rest / 10])
            rest %= 10
        }
        if rest > 0 || words.isEmpty { words.append(Self.small[rest]) }
        return words.joined(separator: " ")
    }

    func ordinal(_ number: Int) -> String {
        var words = cardinal(number).split(separator: " ").map(String.init)
        let last = words.removeLast()
        return (words + [Self.ordinals[last] ?? (last.hasSuffix("y") ? last.dropLast() + "ieth" : last + "th")]).joined(separator: " ")
    }

    func ordinal(written: String) -> String? {
        guard ["st", "nd", "rd", "th"].contains(written.suffix(2).lowercased()) else { return nil }
        return WrittenNumber(written.dropLast(2), decimal: ".").flatMap { $0.fraction.isEmpty && !$0.isNegative ? $0.value : nil }.map(
            ordinal)
    }

    /// "nineteen eighty four", "two thousand five", "twenty twenty six".
    func year(_ year: Int) -> String {
        let (century, rest) = (year / 100, year % 100)
        if 2000...2009 ~= year || year % 1_000 == 0 { return cardinal(year) }
        return cardinal(century) + " " + (rest == 0 ? "hundred" : minutes(rest))
    }

    func decade(_ decade: Int) -> String? {
        let words = decade < 100 ? cardinal(decade) : year(decade)
        return words.hasSuffix("y") ? words.dropLast() + "ies" : words + "s"
    }

    func time(_ hour: Int, _ minute: Int, half: String?) -> String {
        guard let half else {
            if hour == 0 { return time(12, minute, half: "am") }
            if minute > 0 { return cardinal(hour) + " " + minutes(minute) }
            return hour <= 12 ? cardinal(hour) + " o'clock" : cardinal(hour) + " hundred"
        }
        return cardinal(hour) + (minute > 0 ? " " + minutes(minute) : "") + (half == "am" ? " A M" : " P M")
    }

    private func minutes(_ minute: Int) -> String { (minute < 10 ? "oh " : "") + cardinal(minute) }

    func date(_ date: WrittenDate, after before: String) -> String {
        let year = date.year.map { ", " + (1100...2099 ~= $0 ? self.year($0) : cardinal($0)) } ?? ""
        return "\(vocabulary.months[date.month - 1]) \(ordinal(date.day))\(year)"
    }

    func money(_ whole: Int, _ hundredths: Int, _ currency: SpokenCurrency) -> String {
        let main = counted(whole, currency.unit)
        guard hundredths > 0, let unit = currency.hundredth else { return main }
        return whole == 0 ? counted(hundredths, unit) : main + " and " + counted(hundredths, unit)
    }

    private func counted(_ number: Int, _ unit: SpokenUnit) -> String { "\(cardinal(number)) \(number == 1 ? unit.one : unit.many)" }

    func fraction(_ numerator: Int, _ denominator: Int) -> String? {
        guard 1..<denominator ~= numerator, 2...20 ~= denominator || denominator == 100 else { return nil }
        let part =
            switch denominator {
            case 2: numerator == 1 ? "half" : "halves"
            case 4: numerator == 1 ? "quarter" : "quarters"
            default: ordinal(denominator) + (numerator == 1 ? "" : "s")
            }
        return cardinal(numerator) + " " + part
    }

    func abbreviation(_ word: String, before: ArraySlice<String>, after: String) -> String? {
        let isBeforeNumber = after.first?.isDigit == true
        let isBeforeName = after.first?.isUppercase == true
        switch word {
        case "No", "no", "Nos": return isBeforeNumber ? "number" : nil
        case "p": return isBeforeNumber ? "page" : nil
        case "pp": return isBeforeNumber ? "pages" : nil
        case "Fig", "fig": return isBeforeNumber ? "figure" : nil
        case "Vol", "vol": return isBeforeNumber ? "volume" : nil
        case "Dr": return isBeforeName ? "Doctor" : "Drive"
        // "Baker St. London", but "Visit St. Louis".
        case "St":
            let followsName = before.count > 1 && before.last?.first?.isUppercase == true
            return isBeforeName && !followsName ? "Saint" : "Street"
        default: return nil
        }
    }
}

extension SpokenVocabulary {
    fileprivate static let english = SpokenVocabulary(
        decimal: ".",
        symbols: [
            "&": "and", "@": "at", "#": "number", "%": "percent", "+": "plus", "=": "equals", "→": "to", "⇒": "to", "×": "times",
            "*": "times", "÷": "divided by", "±": "plus or minus", "≈": "about", "~": "about", "<": "less than", ">": "greater than",
            "≤": "at most", "≥": "at least", "°": "degrees", "§": "section", "−": "minus", "√": "the square root of", "∞": "infinity",
        ],
        names: Names(
            minus: "minus", plus: "plus", point: "point", to: "to", dot: "dot", dash: "dash", slash: "slash", at: "at", number: "number",
            hashtag: "hashtag"),
        months: [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
        ],
        monthForms: [
            "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
        ],
        units: [
            "%": .init("percent"), "‰": .init("per mille"), "km": .init("kilometer", "kilometers"), "m": .init("meter", "meters"),
            "cm": .init("centimeter", "centimeters"), "mm": .init("millimeter", "millimeters"), "mi": .init("mile", "miles"),
            "ft": .init("foot", "feet"), "yd": .init("yard", "yards"), "m²": .init("square meter", "square meters"),
            "m2": .init("square meter", "square meters"), "km²": .init("square kilometer", "square kilometers"),
            "m³": .init("cubic meter", "cubic meters"), "sqft": .init("square foot", "square feet"), "ha": .init("hectare", "hectares"),
            "g": .init("gram", "grams"), "kg": .init("kilogram", "kilograms"), "mg": .init("milligram", "milligrams"),
            "lb": .init("pound", "pounds"), "lbs": .init("pound", "pounds"), "oz": .init("ounce", "ounces"), "t": .init("ton", "tons"),
            "l": .init("liter", "liters"), "L": .init("liter", "liters"), "ml": .init("milliliter", "milliliters"),
            "mL": .init("milliliter", "milliliters"), "gal": .init("gallon", "gallons"),
            "°": .init("degree", "degrees"), "°C": .init("degree Celsius", "degrees Celsius"),
            "°F": .init("degree Fahrenheit", "degrees Fahrenheit"), "mph": .init("mile per hour", "miles per hour"),
            "km/h": .init("kilometer per hour", "kilometers per hour"), "kmh": .init("kilometer per hour", "kilometers per hour"),
            "m/s": .init("meter per second", "meters per second"), "Hz": .init("hertz"), "kHz": .init("kilohertz"),
            "MHz": .init("megahertz"), "GHz": .init("gigahertz"), "KB": .init("kilobyte", "kilobytes"),
            "kB": .init("kilobyte", "kilobytes"),
            "MB": .init("megabyte", "megabytes"), "GB": .init("gigabyte", "gigabytes"), "TB": .init("terabyte", "terabytes"),
            "Mbps": .init("megabit per second", "megabits per second"), "Mbit/s": .init("megabit per second", "megabits per second"),
            "Gbps": .init("gigabit per second", "gigabits per second"), "W": .init("watt", "watts"), "kW": .init("kilowatt", "kilowatts"),
            "kWh": .init("kilowatt hour", "kilowatt hours"), "V": .init("volt", "volts"), "mAh": .init("milliamp hour", "milliamp hours"),
            "h": .init("hour", "hours"), "hr": .init("hour", "hours"), "hrs": .init("hour", "hours"), "min": .init("minute", "minutes"),
            "mins": .init("minute", "minutes"), "s": .init("second", "seconds"), "sec": .init("second", "seconds"),
            "secs": .init("second", "seconds"), "ms": .init("millisecond", "milliseconds"), "dB": .init("decibel", "decibels"),
            "kcal": .init("kilocalorie", "kilocalories"), "px": .init("pixel", "pixels"),
        ],
        currencies: [
            "$": .init(.init("dollar", "dollars"), .init("cent", "cents")),
            "US$": .init(.init("dollar", "dollars"), .init("cent", "cents")),
            "USD": .init(.init("dollar", "dollars"), .init("cent", "cents")), "€": .init(.init("euro", "euros"), .init("cent", "cents")),
            "EUR": .init(.init("euro", "euros"), .init("cent", "cents")), "£": .init(.init("pound", "pounds"), .init("penny", "pence")),
            "GBP": .init(.init("pound", "pounds"), .init("penny", "pence")), "¥": .init(.init("yen")), "JPY": .init(.init("yen")),
            "CHF": .init(.init("Swiss franc", "Swiss francs"), .init("centime", "centimes")), "¢": .init(.init("cent", "cents")),
        ],
        abbreviations: [
            "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Prof": "Professor", "Jr": "Junior", "Sr": "Senior", "e.g": "for example",
            "i.e": "that is", "etc": "et cetera", "vs": "versus", "approx": "approximately", "Inc": "Incorporated", "Ltd": "Limited",
            "dept": "department", "Dept": "Department", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Apt": "Apartment",
            "max": "maximum", "incl": "including", "excl": "excluding", "tel": "telephone", "Tel": "Telephone", "ext": "extension",
            "Ext": "Extension", "ca": "about", "aka": "also known as", "a.k.a": "also known as", "w/": "with", "w/o": "without",
            "and/or": "and or", "ASAP": "as soon as possible", "Gen": "General", "Capt": "Captain", "Lt": "Lieutenant", "Sgt": "Sergeant",
            "Gov": "Governor", "Sen": "Senator", "Mt": "Mount", "a.m": "A M", "p.m": "P M", "24/7": "twenty four seven",
            "50/50": "fifty fifty", "9/11": "nine eleven",
        ],
        codeWords: [
            "room", "pin", "code", "codes", "number", "extension", "ext", "suite", "apartment", "apt", "zip", "postcode", "order",
            "account",
            "ticket", "id", "booking", "reference", "serial", "password", "passcode", "flight", "invoice", "confirmation", "tracking",
            "call", "dial", "iban",
        ])
}

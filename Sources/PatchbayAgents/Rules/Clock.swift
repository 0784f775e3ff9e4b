internal import Foundation

/// The time here, and in well-known cities.
enum Clock {
    /// Cities, and countries with one time or a usual one, with their time zones (IANA).
    private static let zones: [String: String] = [
        "abu dhabi": "Asia/Dubai", "amsterdam": "Europe/Amsterdam", "athens": "Europe/Athens", "auckland": "Pacific/Auckland",
        "bangkok": "Asia/Bangkok", "barcelona": "Europe/Madrid", "beijing": "Asia/Shanghai", "berlin": "Europe/Berlin",
        "boston": "America/New_York", "brussels": "Europe/Brussels", "buenos aires": "America/Argentina/Buenos_Aires",
        "cairo": "Africa/Cairo", "cape town": "Africa/Johannesburg", "chicago": "America/Chicago", "copenhagen": "Europe/Copenhagen",
        "delhi": "Asia/Kolkata", "denver": "America/Denver", "dubai": "Asia/Dubai", "dublin": "Europe/Dublin",
        "frankfurt": "Europe/Berlin", "hamburg": "Europe/Berlin", "helsinki": "Europe/Helsinki", "hong kong": "Asia/Hong_Kong",
        "honolulu": "Pacific/Honolulu", "istanbul": "Europe/Istanbul", "jakarta": "Asia/Jakarta", "johannesburg": "Africa/Johannesburg",
        "lagos": "Africa/Lagos", "lima": "America/Lima", "lisbon": "Europe/Lisbon", "london": "Europe/London",
        "los angeles": "America/Los_Angeles", "madrid": "Europe/Madrid", "melbourne": "Australia/Melbourne",
        "mexico city": "America/Mexico_City", "miami": "America/New_York", "montreal": "America/Toronto", "moscow": "Europe/Moscow",
        "mumbai": "Asia/Kolkata", "munich": "Europe/Berlin", "nairobi": "Africa/Nairobi", "new york": "America/New_York",
        "oslo": "Europe/Oslo", "paris": "Europe/Paris", "prague": "Europe/Prague", "reykjavik": "Atlantic/Reykjavik",
        "rio de janeiro": "America/Sao_Paulo", "rome": "Europe/Rome", "san francisco": "America/Los_Angeles",
        "sao paulo": "America/Sao_Paulo", "são paulo": "America/Sao_Paulo", "seattle": "America/Los_Angeles", "seoul": "Asia/Seoul",
        "shanghai": "Asia/Shanghai", "singapore": "Asia/Singapore", "stockholm": "Europe/Stockholm", "sydney": "Australia/Sydney",
        "tel aviv": "Asia/Jerusalem", "tokyo": "Asia/Tokyo", "toronto": "America/Toronto", "vancouver": "America/Vancouver",
        "vienna": "Europe/Vienna", "warsaw": "Europe/Warsaw", "washington": "America/New_York", "zurich": "Europe/Zurich",
        "china": "Asia/Shanghai", "england": "Europe/London", "france": "Europe/Paris", "germany": "Europe/Berlin",
        "greece": "Europe/Athens",
        "hawaii": "Pacific/Honolulu", "india": "Asia/Kolkata", "ireland": "Europe/Dublin", "italy": "Europe/Rome", "japan": "Asia/Tokyo",
        "korea": "Asia/Seoul", "norway": "Europe/Oslo", "spain": "Europe/Madrid", "sweden": "Europe/Stockholm",
        "switzerland": "Europe/Zurich", "california": "America/Los_Angeles", "utc": "UTC", "gmt": "UTC",
    ]

    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        guard utterance.has("what time", "the time", "time is it", "time it is", "current time", "o'clock", "which time", "how late is it"),
            !utterance.has("what time is love", "the time of your life", "time zone")
        else {
            guard utterance.has("time zone") else { return nil }
            return [.text("My clock is that of the machine on which I run. Its time zone is \(situation.timeZone.identifier).")]
        }
        if let span = SpokenDuration.find(in: utterance.words)?.duration, utterance.has("in"), span <= Schedule.spanMax {
            let later = situation.now.addingTimeInterval(span / .seconds(1))
            return [.text("In \(SpokenDuration.text(of: span)), it is \(TimeOfDay.text(of: later, in: situation.calendar)).")]
        }
        guard let place = place(in: utterance) else {
            return [.text("It is \(TimeOfDay.text(of: situation.now, in: situation.calendar)).")]
        }
        guard let zone = zones[place.name].flatMap(TimeZone.init(identifier:)) else {
            return [.text("I don't know the time in \(place.written). I know that of about 60 large cities, such as Tokyo and New York.")]
        }
        var there = situation.calendar
        there.timeZone = zone
        let day = DayText.relation(of: situation.now, in: there, to: situation.calendar).map { " \($0)" } ?? ""
        return [.text("In \(place.written), it is \(TimeOfDay.text(of: situation.now, in: there))\(day).")]
    }

    /// The place that the utterance names, or what follows its last "in".
    private static func place(in utterance: Utterance) -> (name: String, written: String)? {
        for (name, _) in zones.sorted(by: { $0.key.count > $1.key.count }) where utterance.has(name) {
            guard let end = utterance.end(of: name) else { continue }
            return (name, title(name, utterance.text(end - name.split(separator: " ").count..<end)))
        }
        guard let start = utterance.words.lastIndex(of: "in"), start + 1 < utterance.words.count,
            !["the", "english", "words", "short"].contains(utterance.words[start + 1])
        else { return nil }
        let name = utterance.words[(start + 1)...].joined(separator: " ")
        return (name, utterance.text((start + 1)...))
    }

    /// A name with capitals; recognizers do not always write them.
    private static func title(_ name: String, _ written: String) -> String {
        if ["utc", "gmt"].contains(name) { return name.uppercased() }
        guard written == written.lowercased() else { return written }
        return written.split(separator: " ").map { $0.count > 2 ? $0.prefix(1).uppercased() + $0.dropFirst() : String($0) }
            .joined(separator: " ")
    }
}

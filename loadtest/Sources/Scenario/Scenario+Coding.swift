/// Decoding of scenario files: field names in snake_case; unknown names are errors, so that a typo does not run another scenario.
extension Scenario {
    init(from decoder: any Decoder) throws {
        try rejectUnknownKeys(in: decoder, known: CodingKeys.self)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        name = try fields.decodeIfPresent(String.self, forKey: .name) ?? name
        calls = try fields.decodeIfPresent(Int.self, forKey: .calls) ?? calls
        listenersPerRoom = try fields.decodeIfPresent(Int.self, forKey: .listenersPerRoom)
        seconds = try fields.decodeIfPresent(Double.self, forKey: .seconds) ?? seconds
        warmupSeconds = try fields.decodeIfPresent(Double.self, forKey: .warmupSeconds) ?? warmupSeconds
        joinsPerSecond = try fields.decodeIfPresent(Double.self, forKey: .joinsPerSecond) ?? joinsPerSecond
        pattern = try fields.decodeIfPresent(Pattern.self, forKey: .pattern) ?? pattern
        meanCallSeconds = try fields.decodeIfPresent(Double.self, forKey: .meanCallSeconds)
        totalCalls = try fields.decodeIfPresent(Int.self, forKey: .totalCalls)
        bargeInShare = try fields.decodeIfPresent(Double.self, forKey: .bargeInShare) ?? bargeInShare
        slowListeners = try fields.decodeIfPresent(SlowListeners.self, forKey: .slowListeners)
        reconnectStorm = try fields.decodeIfPresent(ReconnectStorm.self, forKey: .reconnectStorm)
        bitsPerSecond = try fields.decodeIfPresent(Int.self, forKey: .bitsPerSecond) ?? bitsPerSecond
        seed = try fields.decodeIfPresent(UInt64.self, forKey: .seed) ?? seed
    }
}

extension Scenario.SlowListeners {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case share
        case stopSeconds = "stop_seconds"
        case everySeconds = "every_seconds"
    }

    init(from decoder: any Decoder) throws {
        try rejectUnknownKeys(in: decoder, known: CodingKeys.self)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(share: try fields.decode(Double.self, forKey: .share))
        stopSeconds = try fields.decodeIfPresent(Double.self, forKey: .stopSeconds) ?? stopSeconds
        everySeconds = try fields.decodeIfPresent(Double.self, forKey: .everySeconds) ?? everySeconds
    }
}

extension Scenario.ReconnectStorm {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case share
        case everySeconds = "every_seconds"
        case withinSeconds = "within_seconds"
    }

    init(from decoder: any Decoder) throws {
        try rejectUnknownKeys(in: decoder, known: CodingKeys.self)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(share: try fields.decode(Double.self, forKey: .share))
        everySeconds = try fields.decodeIfPresent(Double.self, forKey: .everySeconds) ?? everySeconds
        withinSeconds = try fields.decodeIfPresent(Double.self, forKey: .withinSeconds) ?? withinSeconds
    }
}

/// Any key, to find unknown ones.
private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

private func rejectUnknownKeys<Key: CodingKey & CaseIterable>(in decoder: any Decoder, known: Key.Type) throws {
    let names = Key.allCases.map(\.stringValue)
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys where !names.contains(key.stringValue) {
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: decoder.codingPath,
                debugDescription: "unknown setting \(key.stringValue); use one of \(names.joined(separator: ", "))"))
    }
}

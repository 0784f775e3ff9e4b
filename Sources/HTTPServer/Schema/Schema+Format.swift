extension Schema.Format {
    /// Whether a text has the syntax of this format.
    func describes(_ text: String) -> Bool {
        switch self {
        case .uuid: Self.isUUID(text)
        case .email: Self.isEmail(text)
        case .time: Self.isTime(text)
        case .uri: text.contains(":") && !text.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7F }
        case .password: true
        }
    }

    /// RFC 9562 section 4.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// `something@something`; anything stricter rejects deliverable addresses.
    private static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.count <= 253 }
            && !text.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7F || $0.properties.isWhitespace }
    }

    /// RFC 3339 section 5.6, with a valid day of the month.
    private static func isTime(_ text: String) -> Bool {
        let form = /([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]{1,9})?(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))/
        guard let match = text.wholeMatch(of: form) else { return false }
        func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
        let (year, month, day) = (number(match.1), number(match.2), number(match.3))
        guard 1...9_999 ~= year, 1...12 ~= month, number(match.4) < 24, number(match.5) < 60, number(match.6) < 60 else { return false }
        guard number(match.7) < 24, number(match.8) < 60 else { return false }
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...days[month - 1] ~= day
    }
}

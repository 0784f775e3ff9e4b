/// A number as written: sign, digits without separators, and the digits of its fraction.
struct WrittenNumber: Sendable, Hashable {
    /// Longer ones are spoken digit by digit.
    static let digitsMax = 15

    var isNegative = false
    var hasPlus = false
    var digits = ""
    var fraction = ""
    /// Groups of three digits were separated.
    var isGrouped = false

    /// Parses "1,200.50", "-5" and the like.
    ///
    /// A separator that cannot be one of groups is taken as that of the fraction, so that "3,5" is a number in English as well.
    ///
    /// - Parameter decimal: the language's separator of the fraction, a full stop or a comma; the other one separates groups.
    init?(_ text: some StringProtocol, decimal: Character) {
        var rest = Substring(text)
        if let sign = rest.first, "-−–+".contains(sign) {
            isNegative = sign != "+"
            hasPlus = sign == "+"
            rest = rest.dropFirst()
        }
        guard let first = rest.first, first.isDigit, let last = rest.last, last.isDigit else { return nil }
        guard rest.allSatisfy({ $0.isDigit || $0 == "." || $0 == "," }) else { return nil }
        let group: Character = decimal == "." ? "," : "."
        let parts = rest.split(separator: decimal, omittingEmptySubsequences: false)
        let groups = (parts.first ?? "").split(separator: group, omittingEmptySubsequences: false)
        if parts.count <= 2, Self.areGroups(groups) {
            digits = groups.joined()
            isGrouped = groups.count > 1
            fraction = parts.count == 2 ? String(parts[1]) : ""
            guard fraction.allSatisfy(\.isDigit) else { return nil }
        } else if parts.count == 1, groups.count == 2 {
            digits = String(groups[0])
            fraction = String(groups[1])
        } else {
            return nil
        }
    }

    /// One group, or groups of three digits after the first one.
    private static func areGroups(_ groups: [Substring]) -> Bool {
        guard let first = groups.first, !first.isEmpty else { return false }
        return groups.count == 1 || first.count <= 3 && groups.dropFirst().allSatisfy { $0.count == 3 }
    }

    /// Nil if the integer part has leading zeros or more than `digitsMax` digits.
    var value: Int? { digits.count <= Self.digitsMax && (digits == "0" || !digits.hasPrefix("0")) ? Int(digits) : nil }

    /// An integer without sign and separators.
    var isPlain: Bool { !isNegative && !hasPlus && !isGrouped && fraction.isEmpty }

    var isOne: Bool { digits == "1" && fraction.isEmpty }
}

extension Character {
    /// "0" to "9".
    var isDigit: Bool { "0"..."9" ~= self && utf8.count == 1 }
}

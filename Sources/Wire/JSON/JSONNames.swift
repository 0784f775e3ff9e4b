/// How a member's name comes from its coding key.
package enum JSONNames: Sendable {
    /// `sessionId` is `sessionId`.
    case asDeclared
    /// `sessionId` is `session_id`: an underscore before every capital, so `sessionID` would be `session_i_d`.
    case snakeCase
}

extension JSONNames {
    /// Whether `name` is what `key` is called in JSON. Nothing is converted, and so nothing allocated, to find out.
    func isName(_ name: Span<UInt8>, of key: Span<UInt8>) -> Bool {
        // A converted name is never shorter than its key.
        guard name.count >= key.count else { return false }
        var position = 0
        for index in key.indices {
            var byte = key[index]
            if self == .snakeCase && byte.isCapital {
                guard position < name.count, name[position] == UInt8(ascii: "_") else { return false }
                position += 1
                byte = byte.lowercased
            }
            guard position < name.count, name[position] == byte else { return false }
            position += 1
        }
        return position == name.count
    }
}

extension UInt8 {
    var isCapital: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

    /// A capital's small letter.
    var lowercased: UInt8 { self | 0x20 }
}

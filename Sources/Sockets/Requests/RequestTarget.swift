/// The target of a request: a path and perhaps a query, percent-decoded (RFC 9112 section 3.2.1, RFC 3986 section 2.1).
struct RequestTarget {
    let path: String
    let query: Query

    /// - Parameter text: the target as it is in the request line.
    init(_ text: ArraySlice<UInt8>) throws(RequestFault) {
        guard text.first == UInt8(ascii: "/"), text.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else { throw .target }
        let mark = text.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = try Self.path(text[..<mark])
        query = try Query(text[mark...].dropFirst())
    }

    /// `+` is an ordinary character here.
    private static func path(_ text: ArraySlice<UInt8>) throws(RequestFault) -> String {
        let decoded = try PercentEncoding.decode(text, plusIsSpace: false)
        guard !hasDotSegment(decoded) else { throw .dotSegment }
        guard let path = String(validating: decoded, as: UTF8.self) else { throw .encoding }
        return path
    }

    /// A proxy that resolves `.` and `..` would have checked another path than the gateway serves. Looks at decoded bytes, so that `%2e` and
    /// `%2F` do not hide one.
    private static func hasDotSegment(_ path: ArraySlice<UInt8>) -> Bool {
        let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
        var start = path.startIndex
        while let before = path[start...].firstIndex(of: slash) {
            start = before + 1
            var end = start
            while end < path.endIndex, end < start + 2, path[end] == dot { end += 1 }
            if end > start, end == path.endIndex || path[end] == slash { return true }
        }
        return false
    }
}

/// The query of a URL. Of several values of a name the first counts.
///
/// Decodes a value when it is asked for, so that a query takes no more memory than in the head, whatever it contains.
package struct Query: Hashable, Sendable {
    /// As in the target; decoding it succeeds.
    private let text: [UInt8]

    /// As in the target.
    var encoded: [UInt8] { text }

    package init() { text = [] }

    init(_ text: ArraySlice<UInt8>) throws(RequestFault) {
        // Valid as a whole if each item is: what separates items is ASCII.
        let decoded = try PercentEncoding.decode(text, plusIsSpace: true)
        guard String(validating: decoded, as: UTF8.self) != nil else { throw .encoding }
        self.text = Array(text)
    }

    /// The value, percent-decoded and with a space for each `+`: empty for a name without `=`, nil if there is no such name.
    package subscript(name: String) -> String? {
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
            let item = rest[..<end]
            rest = rest[end...].dropFirst()
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            if Self.decode(item[..<equals]).elementsEqual(name.utf8) {
                return String(decoding: Self.decode(item[equals...].dropFirst()), as: UTF8.self)
            }
        }
        return nil
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        // Was decoded before.
        (try? PercentEncoding.decode(text, plusIsSpace: true)) ?? []
    }
}

private enum PercentEncoding {
    /// Refuses `%` without two hexadecimal digits, and NUL and line ends, which later readers of a value might take for its end.
    static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) throws(RequestFault) -> ArraySlice<UInt8> {
        let (percent, plus) = (UInt8(ascii: "%"), UInt8(ascii: "+"))
        guard text.contains(where: { $0 == percent || $0 == plus && plusIsSpace }) else { return text }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            switch text[index] {
            case percent:
                guard index + 2 < text.endIndex, let high = text[index + 1].hexValue, let low = text[index + 2].hexValue else {
                    throw .encoding
                }
                let byte = high << 4 | low
                guard byte != 0, byte != .lineFeed, byte != .carriageReturn else { throw .encoding }
                decoded.append(byte)
                index += 3
            case plus where plusIsSpace:
                decoded.append(.space)
                index += 1
            case let byte:
                decoded.append(byte)
                index += 1
            }
        }
        return decoded[...]
    }
}

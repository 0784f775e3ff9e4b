/// Collects the bytes of one head, which arrive in pieces, and checks each byte once: no control characters, no line end but CR LF, no line
/// that continues the one before (RFC 9112 sections 2.2 and 5.2).
struct HeadCollector: Sendable {
    /// The head as far as it has arrived, without blank lines before it.
    private(set) var bytes: [UInt8] = []
    private var position = Position.start
    private var blankLines = 0

    /// Blank lines that may precede a request. Old clients send one behind a body.
    private static let blankLinesMax = 2

    private enum Position {
        /// Before the request line.
        case start, startCR
        case line, lineCR
        /// At the start of a line other than the first.
        case next, nextCR
    }

    enum Progress {
        case incomplete, complete, tooLong
    }

    /// Takes the bytes of the head from the front of `rest`, up to its blank line. After a fault, the bytes that remain there are unspecified.
    mutating func take(from rest: inout ArraySlice<UInt8>) throws(RequestFault) -> Progress {
        try skipBlankLines(&rest)
        let view = rest.prefix(RequestHead.bytesMax - bytes.count)
        let end = try findEnd(in: view)
        bytes += view[..<(end ?? view.endIndex)]
        rest = rest[(end ?? view.endIndex)...]
        if end != nil { return .complete }
        return bytes.count < RequestHead.bytesMax ? .incomplete : .tooLong
    }

    private mutating func skipBlankLines(_ rest: inout ArraySlice<UInt8>) throws(RequestFault) {
        while let byte = rest.first {
            switch (position, byte) {
            case (.start, .carriageReturn): position = .startCR
            case (.startCR, .lineFeed):
                blankLines += 1
                guard blankLines <= Self.blankLinesMax else { throw .requestLine }
                position = .start
            case (.startCR, _): throw .lineEnd
            default: return
            }
            rest = rest.dropFirst()
        }
    }

    /// - Returns: where the head ends in these bytes; nil if it is incomplete.
    private mutating func findEnd(in piece: ArraySlice<UInt8>) throws(RequestFault) -> Int? {
        var index = piece.startIndex
        while index < piece.endIndex {
            switch (position, piece[index]) {
            case (.line, .carriageReturn): position = .lineCR
            case (.lineCR, .lineFeed): position = .next
            case (.next, .carriageReturn): position = .nextCR
            case (.nextCR, .lineFeed): return index + 1
            case (.lineCR, _), (.nextCR, _): throw .lineEnd
            case (.next, .space), (.next, .tab): throw .folding
            default:
                let end = piece[index...].firstIndex { !$0.isOfText } ?? piece.endIndex
                guard end > index else { throw .lineEnd }
                position = .line
                index = end
                continue
            }
            index += 1
        }
        return nil
    }
}

// MARK: Characters

extension UInt8 {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }

    /// No control character, or a tab.
    var isOfText: Bool { self >= .space ? self != 0x7F : self == .tab }
    var isBlank: Bool { self == .space || self == .tab }
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    private var isLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }
    /// Of ASCII letters.
    var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }

    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// RFC 9110 section 5.6.2: letters, digits and ``!#$%&'*+-.^_`|~``.
    var isOfToken: Bool {
        switch self {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Names, IP addresses and ports (RFC 3986 section 3.2.2), without characters that only a registered name of another kind may have.
    var isOfHost: Bool { isDigit || isLetter || "-._~:[]%".utf8.contains(self) }
    var isOfBase64: Bool { isDigit || isLetter || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") }
}

extension ArraySlice<UInt8> {
    /// Without blanks around it.
    var trimmed: ArraySlice<UInt8> {
        var (start, end) = (startIndex, endIndex)
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return self[start..<end]
    }

    /// Compares with a text in lower case.
    func isEqual(_ text: String) -> Bool { isEqual(lowercased: text.utf8) }
    func isEqual(lowercased text: some Collection<UInt8>) -> Bool {
        count == text.count && zip(self, text).allSatisfy { $0.lowercased == $1 }
    }
}

import Foundation

/// An HTTP response as received.
struct HTTPAnswer {
    var status: Int
    /// By lower-case name.
    var fields: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    /// The `code` of an error body.
    var code: String? { json?["code"] as? String }
    var json: [String: Any]? { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] }
}

extension HTTPAnswer {
    /// Reads a head, and a body of the length that the head states. Bytes after it are left in `inbox`.
    ///
    /// - Parameter hasBody: false for the response to HEAD.
    /// - Returns: nil if the connection ends before the head does.
    static func read(from socket: RawSocket, inbox: inout [UInt8], hasBody: Bool = true, within span: Duration = Patience.usual) throws
        -> HTTPAnswer?
    {
        var end = headEnd(in: inbox)
        while end == nil {
            let more = try socket.read(within: span)
            if more.isEmpty { return nil }
            inbox += more
            end = headEnd(in: inbox)
        }
        let lines = String(decoding: inbox.prefix(end!), as: UTF8.self).components(separatedBy: "\r\n")
        inbox.removeFirst(end! + 4)
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw DidNotHappen(what: "a status line in \"\(lines[0])\"") }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        var answer = HTTPAnswer(status: status, fields: fields, body: [])
        let length = hasBody ? fields["content-length"].flatMap { Int($0) } ?? 0 : 0
        while inbox.count < length {
            let more = try socket.read(within: span)
            if more.isEmpty { break }
            inbox += more
        }
        answer.body = Array(inbox.prefix(length))
        inbox.removeFirst(min(length, inbox.count))
        return answer
    }

    private static func headEnd(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).first { bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10 }
    }
}

/// An HTTP request as text, so that the test controls every line.
struct HTTPAsk: Sendable {
    var method = "GET"
    var path: String
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    var host = "127.0.0.1"

    var bytes: [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }

    /// Sends it on a new connection.
    func answer(port: Int, from source: String = Loopback.fresh()) throws -> HTTPAnswer? {
        let socket = try RawSocket.secure(port: port, from: source)
        try socket.write(bytes)
        var inbox: [UInt8] = []
        return try HTTPAnswer.read(from: socket, inbox: &inbox)
    }
}

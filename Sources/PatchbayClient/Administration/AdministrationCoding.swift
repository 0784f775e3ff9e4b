internal import FoundationEssentials
internal import Sockets

/// Paths and bodies of `/v1/rooms…`.
enum AdministrationCoding {
    /// - Parameter parts: what comes after `/v1/rooms`, in clear.
    static func path(_ parts: [String]) -> String {
        (["", "v1", "rooms"] + parts.map(escaped)).joined(separator: "/")
    }

    static func decode<Answer: Decodable>(_ answer: HTTPAnswer) throws(AdministrationError) -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let body = Data(answer.body)
        guard (200..<300).contains(answer.status) else {
            guard let refusal = try? decoder.decode(HTTPError.self, from: body) else { throw .badAnswer(status: answer.status) }
            throw .refused(status: answer.status, code: refusal.code, message: refusal.message)
        }
        guard let value = try? decoder.decode(Answer.self, from: body) else { throw .badAnswer(status: answer.status) }
        return value
    }

    private struct HTTPError: Decodable {
        var code: String
        var message: String
    }

    /// RFC 3986 section 2.3: only unreserved characters stay as they are.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + String(byte >> 4, radix: 16, uppercase: true) + String(byte & 15, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

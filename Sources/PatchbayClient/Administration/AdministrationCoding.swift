internal import Foundation

/// Paths and response bodies of `/v1/rooms…`.
enum AdministrationCoding {
    /// - Parameter parts: the path below `/v1/rooms`, not escaped.
    static func path(_ parts: [String]) -> String {
        (["", "v1", "rooms"] + parts.map(escaped)).joined(separator: "/")
    }

    /// Gateways decode a path before they split it, and remove empty and dot segments.
    static func isAddressable(_ name: String) -> Bool {
        !["", ".", ".."].contains(name) && !name.utf8.contains { "/\n\r".utf8.contains($0) }
    }

    /// A JSON object of strings.
    static func body(_ fields: [String: String]) -> [UInt8] {
        // Strings can always be encoded.
        (try? JSONEncoder().encode(fields)).map(Array.init) ?? []
    }

    static func decode<Value: Decodable>(_ response: HTTPExchangeResponse) throws(AdministrationError) -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let body = Data(response.body)
        guard (200..<300).contains(response.status) else {
            guard let error = try? decoder.decode(ErrorBody.self, from: body) else { throw .badAnswer(status: response.status) }
            throw .refused(status: response.status, code: error.code, message: error.message)
        }
        guard let value = try? decoder.decode(Value.self, from: body) else { throw .badAnswer(status: response.status) }
        return value
    }

    private struct ErrorBody: Decodable {
        var code: String
        var message: String
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986 section 2.3).
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

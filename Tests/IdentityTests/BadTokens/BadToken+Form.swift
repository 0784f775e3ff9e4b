/// Tokens of the wrong shape: length, parts, base64, JSON.
extension BadToken {
    static let ofBadForm: [BadToken] = {
        let good = Payload().token
        let parts = good.split(separator: ".").map(String.init)
        let header = Forge.header("HS256")
        return [
            BadToken("empty", "missing_token", ""),
            BadToken("a space before it", "malformed_token", " " + good),
            BadToken("a line end after it", "malformed_token", good + "\n"),
            BadToken("a space inside", "malformed_token", parts[0] + ". " + parts[1] + "." + parts[2]),
            BadToken("with its scheme", "malformed_token", "Bearer " + good),
            BadToken("one megabyte", "token_too_large", String(repeating: "a", count: 1_000_000)),
            BadToken("one megabyte, rightly signed", "token_too_large", payload: Payload().with("metadata", long(750_000))),
            BadToken("one byte over 16 KiB", "token_too_large", String(repeating: "a", count: 16_385)),
            BadToken("one part", "malformed_token", parts[1]),
            BadToken("two parts", "malformed_token", parts[0] + "." + parts[1]),
            BadToken("four parts", "malformed_token", good + "." + parts[2]),
            BadToken("a dot at the end", "malformed_token", good + "."),
            BadToken("a dot inside the signature", "malformed_token", String(good.dropLast(8)) + "." + good.suffix(8)),
            BadToken("dots only", "malformed_token", ".."),
            BadToken("no header", "malformed_token", "." + parts[1] + "." + parts[2]),
            BadToken("no payload", "malformed_token", parts[0] + ".." + parts[2]),
            BadToken("no signature", "malformed_token", parts[0] + "." + parts[1] + "."),
            BadToken("padding", "malformed_token", good + "="),
            BadToken("plus, of the other base64", "malformed_token", parts[0] + "." + parts[1] + ".+" + parts[2].dropFirst()),
            BadToken("slash, of the other base64", "malformed_token", parts[0] + "." + parts[1] + "./" + parts[2].dropFirst()),
            BadToken("a letter beyond ASCII", "malformed_token", parts[0] + "." + parts[1] + ".é" + parts[2].dropFirst()),
            BadToken("a NUL at the end", "malformed_token", good + "\u{0}"),
            BadToken("a lone last character", "malformed_token", parts[0] + "." + parts[1] + "." + parts[2] + "AA"),
            BadToken("unused bits that are not zero", "malformed_token", parts[0] + "." + parts[1] + "." + withUnusedBit(parts[2])),
            BadToken("header that is no JSON", "malformed_token", header: "HS256"),
            BadToken("header that is an array", "malformed_token", header: #"["HS256"]"#),
            BadToken("header without alg", "malformed_token", header: #"{"typ":"JWT"}"#),
            BadToken("alg that is a number", "malformed_token", header: #"{"alg":256}"#),
            BadToken("alg twice", "malformed_token", header: #"{"alg":"HS256","alg":"none"}"#),
            BadToken("alg twice, spelled differently", "malformed_token", header: #"{"alg":"HS256","\u0061lg":"none"}"#),
            BadToken("critical extensions", "malformed_token", header: #"{"alg":"HS256","crit":["exp"]}"#),
            BadToken("another type", "malformed_token", header: #"{"alg":"HS256","typ":"JOSE"}"#),
            BadToken("header nested deeply", "malformed_token", header: #"{"alg":"HS256","x":"# + nested(1_000) + "}"),
            BadToken("payload that is no JSON", "malformed_token", rawPayload: "iss=hs-issuer"),
            BadToken("payload that is an array", "malformed_token", rawPayload: "[" + Payload().text + "]"),
            BadToken("payload that is a text", "malformed_token", rawPayload: "\"hs-issuer\""),
            BadToken("payload that is null", "malformed_token", rawPayload: "null"),
            BadToken("payload with something behind it", "malformed_token", rawPayload: Payload().text + "{}"),
            BadToken("payload with a NUL behind it", "malformed_token", rawPayload: Payload().text + "\u{0}{"),
            BadToken("payload with an open end", "malformed_token", rawPayload: String(Payload().text.dropLast())),
            BadToken("payload with a comment", "malformed_token", rawPayload: "/**/" + Payload().text),
            BadToken("payload with a trailing comma", "malformed_token", rawPayload: Payload().text.dropLast() + ",}"),
            BadToken(
                "payload that is not UTF-8", "malformed_token",
                Forge.token(
                    header: Array(header.utf8), payload: Array(Payload().with("name", "\"?\"").text.utf8).map { $0 == 63 ? 0xFF : $0 },
                    .secret(Issuers.secret))),
            BadToken("10,000 open brackets", "malformed_token", rawPayload: String(repeating: "[", count: 10_000)),
            BadToken("2,000 objects in each other", "malformed_token", rawPayload: bomb(of: 2_000)),
            BadToken("33 levels, where 32 are read", "malformed_token", payload: Payload().with("x", nested(32))),
        ]
    }()

    /// `[[[…]]]`.
    static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    /// A JSON text of so many letters.
    static func long(_ count: Int, of letter: String = "m") -> String {
        "\"" + String(repeating: letter, count: count) + "\""
    }

    /// `{"a":{"a":…}}`, as deep as fits into a token.
    private static func bomb(of depth: Int) -> String {
        String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    }

    /// 32 bytes take 43 characters, and of the last one two bits are not used.
    private static func withUnusedBit(_ signature: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let value = alphabet.firstIndex(of: signature.last!)!
        return String(signature.dropLast()) + String(alphabet[value + 1])
    }
}

import CLibwebsockets

/// Requests with something in them that one of two servers might overlook (RFC 9112 section 11.2).
enum SmuggledRequests {
    /// Proper beginnings of the names that libwebsockets knows: its parser overlooks the field that follows one. Without `sec-websocket-key`,
    /// which begins `sec-websocket-key1` and may occur only once.
    static let beginnings: [String] = {
        let names = (0..<WSI_TOKEN_COUNT.rawValue).compactMap { lws_token_to_string(lws_token_indexes($0)).map { String(cString: $0) } }
        // `host:`, `get `, `http/1.1 `; those of HTTP/2 begin with a colon.
        let words = names.map { $0.prefix { $0 != ":" && $0 != " " && $0 != "/" } }
        let beginnings = words.flatMap { word in (1..<max(word.count, 1)).map { String(word.prefix($0)) } }
        return Set(beginnings).subtracting(["sec-websocket-key"]).sorted()
    }()

    /// Spellings of a chunked body's field, each with `Transfer-Encoding` in some form.
    static let codings =
        [
            ": chunked", ":chunked", ": \tchunked\t", " : chunked", ": Chunked", ": xchunked", ": identity", ": ,chunked",
            ": chunked, identity",
            ": gzip, chunked", ": \u{B}chunked", ":\r\n chunked", ": \"chunked\"", ": chunked;a=b", ": chunked\0", ":", "",
            ": chunked\r\nTransfer-Encoding: chunked", ": chunked\r\nTransfer-Encoding: x",
        ].map { "Transfer-Encoding" + $0 } + [
            "Transfer_Encoding: chunked", " Transfer-Encoding: chunked", "X: a\nTransfer-Encoding: chunked",
            "X: a\rTransfer-Encoding: chunked",
        ]

    /// Spellings of a body's length.
    static func lengths(of body: String) -> [String] {
        let count = "\(body.utf8.count)"
        let values = [
            count, "+" + count, "-" + count, "0" + count, count + " ", count + " 0", count + "\0", "\0" + count, "\u{B}" + count,
            "\(count), \(count)", count + ";", count + ".0", count + "e0", count + "_", "0x" + String(body.utf8.count, radix: 16), "",
            "\r\n " + count,
            "\(count)\r\nContent-Length: \(count)", "\(count)\r\nContent-Length: 0", "0\r\nContent-Length: \(count)",
            "00000000000000000000" + count, "18446744073709551616", "99999999999999999999",
        ]
        return values.map { "Content-Length: " + $0 }
    }

    static func chunked(_ body: String) -> String { "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n" }
}

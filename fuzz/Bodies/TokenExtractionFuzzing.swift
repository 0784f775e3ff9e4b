private import HTTPServer

/// Extracts tokens from the parts of a request that may carry one.
enum TokenExtractionFuzzing {
    /// The input is up to three texts separated by NUL: the `Authorization` header, the subprotocols and the query parameter.
    static func extract(_ bytes: [UInt8]) {
        let texts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        let subprotocols = texts.count > 1 ? texts[1].split(separator: ",") : []
        let query = texts.count > 2 ? texts[2] : nil
        for authorization in [texts.first, nil] {
            guard let token = try? RequestToken.extract(authorization: authorization, subprotocols: subprotocols, query: query) else {
                continue
            }
            precondition(
                [authorization ?? "", texts.count > 1 ? texts[1] : "", query ?? ""].contains { $0.contains(token) || token.isEmpty },
                "a token must be part of the input")
        }
    }
}

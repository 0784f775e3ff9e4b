internal import Foundation

/// What takes our place back after the line was lost (PROTOCOL section 7).
struct ResumeClaim: Hashable {
    /// From the newest `hello`.
    var token: String
    /// The number of the last event that we got.
    var lastSeq: UInt64

    /// As it may stand in a URL's query.
    var escapedToken: String {
        token.addingPercentEncoding(withAllowedCharacters: .urlUnreserved) ?? ""
    }
}

extension CharacterSet {
    /// RFC 3986 section 2.3.
    fileprivate static let urlUnreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

internal import Sockets

extension HostName {
    /// Looks for a name's addresses before a socket is made: only a time-out would tell that there are none.
    ///
    /// - Throws: `ConnectError` of kind `unreachable` if the name has no address.
    static func check(_ host: String) async throws(ConnectError) {
        let outcome = await withCheckedContinuation { known in addresses(of: host) { known.resume(returning: $0) } }
        if case .failure(let fault) = outcome {
            throw ConnectError(.unreachable, "\(HTTPClientError.unknownHost(host, reason: fault.reason))")
        }
    }
}

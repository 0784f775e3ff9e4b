internal import Foundation

/// Asks the system for a host's addresses before a socket is made, because libwebsockets says nothing of a name that does not
/// exist, and only its time-out would tell. On a thread of its own: the system may take its time.
enum HostName {
    /// - Throws: `ConnectError` of kind `unreachable` if the name has no address.
    static func check(_ host: String) async throws(ConnectError) {
        let fault: String? = await withCheckedContinuation { known in
            let thread = Thread { known.resume(returning: problem(with: host)) }
            thread.name = "patchbay-names"
            thread.stackSize = 256 << 10
            thread.start()
        }
        if let fault { throw ConnectError(.unreachable, "the host \(host) is not known: \(fault)") }
    }

    private static func problem(with host: String) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &found)
        defer { if code == 0 { freeaddrinfo(found) } }
        return code == 0 ? nil : String(cString: gai_strerror(code))
    }
}

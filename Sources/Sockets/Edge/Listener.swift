internal import CLibwebsockets
internal import Glibc

/// A listening TCP socket. Several loops may share a port: each binds it with SO_REUSEPORT and the kernel distributes the connections.
///
/// Not libwebsockets' own, whose port sharing fails in Debian's build.
package struct Listener: Sendable {
    package let descriptor: Int32
    package let entrance: Entrance
    /// The bound port, also if 0 was requested.
    package let port: Int

    /// - Parameters:
    ///   - host: a numeric IPv4 or IPv6 address.
    ///   - port: 0 for any free one.
    ///   - shared: whether other listeners of this process may bind the same port.
    package init(host: String, port: Int, shared: Bool, entrance: Entrance = .clients) throws(ListenError) {
        let bound = unsafe withResolved(host, port: port, flags: AI_NUMERICHOST | AI_PASSIVE) { found -> Int32? in
            unsafe found.map { unsafe Self.bind($0, shared: shared) }
        }
        guard let bound else { throw ListenError(host: host, port: port, reason: "not a numeric IP address", isTaken: false) }
        guard bound >= 0 else { throw ListenError(host: host, port: port, errno: -bound) }
        descriptor = bound
        self.entrance = entrance
        self.port = unsafe SocketAddress(of: bound) { unsafe getsockname($0, $1, $2) }?.port ?? port
    }

    /// - Returns: a listening socket, or the negative error.
    private static func bind(_ address: addrinfo, shared: Bool) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(address.ai_family, type, 0)
        guard descriptor >= 0 else { return -errno }
        var one: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if shared { _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, size) }
        guard unsafe Glibc.bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 4_096) == 0 else {
            let code = errno
            discard(descriptor)
            return -code
        }
        return descriptor
    }

    /// Takes one waiting connection, if there is one.
    func accept() throws(AcceptError) -> Int32? {
        let connection = patchbay_accept(descriptor)
        if connection >= 0 { return connection }
        switch errno {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: throw AcceptError(errno: errno)
        // No connection is pending, or it was reset before the accept.
        default: return nil
        }
    }

    static func discard(_ connection: Int32) {
        _ = Glibc.close(connection)
    }

    package func close() {
        _ = Glibc.close(descriptor)
    }

    /// Whether `host` is a numeric IPv4 or IPv6 address.
    package static func isAddress(_ host: String) -> Bool {
        unsafe withResolved(host, flags: AI_NUMERICHOST) { unsafe $0 != nil }
    }
}

/// Why a listener could not be created.
package struct ListenError: Error, CustomStringConvertible {
    package var host: String
    package var port: Int
    package var reason: String
    /// Another socket is bound to it.
    package var isTaken: Bool
    /// The same attempt may succeed later.
    package var mayPass = false
    /// The setting with the port.
    package var setting = "--port"

    init(host: String, port: Int, reason: String, isTaken: Bool) {
        self.host = host
        self.port = port
        self.reason = reason
        self.isTaken = isTaken
    }

    init(host: String, port: Int, errno code: Int32) {
        unsafe self.init(host: host, port: port, reason: String(cString: strerror(code)), isTaken: code == EADDRINUSE)
        mayPass = [EADDRINUSE, EADDRNOTAVAIL, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code)
    }

    package var description: String {
        isTaken
            ? "port \(port) on \(host) is taken; stop the program that has it or choose another with \(setting)"
            : "cannot listen on \(host) port \(port): \(reason)"
    }
}

/// Why a listener has stopped accepting for a while: the process or the system is out of descriptors or memory.
package struct AcceptError: Error, Hashable, CustomStringConvertible {
    package let errno: Int32
    package var description: String { unsafe String(cString: strerror(errno)) }
}

internal import CLibwebsockets
internal import Glibc

/// A listening TCP socket that several loops may share: each binds the same port with SO_REUSEPORT and the kernel deals
/// the connections out.
///
/// Our own and not lws's, whose port sharing fails in Debian's build.
package struct Listener: Sendable {
    package let descriptor: Int32
    /// The port that is really bound, also where 0 was asked for.
    package let port: Int

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - host: a numeric IPv4 or IPv6 address.
    ///   - port: 0 takes a free one.
    ///   - shared: whether others of this program may bind the same port.
    /// - Throws: `ListenError`, with the system's reason.
    package init(host: String, port: Int, shared: Bool) throws(ListenError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &found) == 0, let address = unsafe found else {
            throw ListenError(host: host, port: port, reason: "not a numeric IP address", isTaken: false)
        }
        defer { unsafe freeaddrinfo(found) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(address.pointee.ai_family, type, 0)
        guard descriptor >= 0 else { throw ListenError(host: host, port: port, errno: errno) }
        var one: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
        if shared { _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, size) }
        guard unsafe bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, listen(descriptor, 4_096) == 0 else {
            let code = errno
            _ = Glibc.close(descriptor)
            throw ListenError(host: host, port: port, errno: code)
        }
        self.descriptor = descriptor
        self.port = Self.boundPort(of: descriptor) ?? port
    }

    /// Takes one waiting connection; nil if there is none.
    func accept() -> Int32? {
        let connection = patchbay_accept(descriptor)
        return connection < 0 ? nil : connection
    }

    static func discard(_ connection: Int32) {
        _ = Glibc.close(connection)
    }

    package func close() {
        _ = Glibc.close(descriptor)
    }

    private static func boundPort(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int? in
                guard unsafe getsockname(descriptor, address, &length) == 0 else { return nil }
                // The port lies at the same place in sockaddr_in and sockaddr_in6.
                return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            }
        }
    }
}

/// Why a port could not be listened on.
package struct ListenError: Error, CustomStringConvertible {
    package var host: String
    package var port: Int
    package var reason: String
    /// Somebody else has it.
    package var isTaken: Bool

    init(host: String, port: Int, reason: String, isTaken: Bool) {
        self.host = host
        self.port = port
        self.reason = reason
        self.isTaken = isTaken
    }

    init(host: String, port: Int, errno code: Int32) {
        unsafe self.init(host: host, port: port, reason: String(cString: strerror(code)), isTaken: code == EADDRINUSE)
    }

    package var description: String {
        isTaken
            ? "port \(port) on \(host) is taken; stop the program that has it or choose another with --port"
            : "cannot listen on \(host) port \(port): \(reason)"
    }
}

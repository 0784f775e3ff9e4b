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

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - host: a numeric IPv4 or IPv6 address.
    ///   - port: 0 for any free one.
    ///   - shared: whether other listeners of this process may bind the same port.
    ///   - entrance: what its connections are for.
    /// - Throws: `ListenError` with the system's reason.
    package init(host: String, port: Int, shared: Bool, entrance: Entrance = .clients) throws(ListenError) {
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
        self.entrance = entrance
        self.port = Self.boundPort(of: descriptor) ?? port
    }

    /// Takes one waiting connection.
    ///
    /// - Returns: nil if there is none.
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
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0 else { return false }
        unsafe freeaddrinfo(found)
        return true
    }

    private static func boundPort(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int? in
                guard unsafe getsockname(descriptor, address, &length) == 0 else { return nil }
                // The port has the same offset in sockaddr_in and sockaddr_in6.
                return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            }
        }
    }
}

/// Why a listener could not be created.
package struct ListenError: Error, CustomStringConvertible {
    package var host: String
    package var port: Int
    package var reason: String
    /// Another socket is bound to it.
    package var isTaken: Bool
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

/// Watches one listener for a loop.
///
/// If the system has no descriptor for a new connection, the listener stays readable; it is left alone for `pauseMilliseconds`, so that the
/// loop does not spin. Waiting connections stay in the kernel's backlog.
@safe final class ListenerWatch {
    static let pauseMilliseconds: UInt64 = 100
    /// Accepted in one turn, and the time after which the rest is left to the next turn, so that a flood of new connections does not delay
    /// established ones.
    private static let acceptsPerTurn = 64
    private static let acceptNanosecondsMax: UInt64 = 1_000_000

    private let listener: Listener
    private unowned let loop: Loop
    private let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private var isClosed = false

    init(listener: Listener, loop: Loop) {
        self.listener = listener
        self.loop = loop
    }

    func start(on uv: UnsafeMutablePointer<uv_loop_t>) {
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_poll_init(uv, poll, listener.descriptor)
        unsafe uv_timer_init(uv, timer)
        // libuv keeps the pointers until the handles are closed; `close` frees them only after that.
        unsafe poll.pointee.data = unsafe this
        unsafe timer.pointee.data = unsafe this
        resume()
    }

    fileprivate func resume() {
        unsafe loop.recordLayer.poll(poll, for: UV_READABLE) { poll, _, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            unsafe Unmanaged<ListenerWatch>.fromOpaque(data).takeUnretainedValue().acceptAll()
        }
    }

    private func acceptAll() {
        do {
            let began = uv_hrtime()
            for _ in 0..<Self.acceptsPerTurn {
                guard let descriptor = try listener.accept() else { return }
                loop.accepted(descriptor, at: listener.entrance)
                guard uv_hrtime() - began < Self.acceptNanosecondsMax else { return }
            }
        } catch {
            unsafe uv_poll_stop(poll)
            unsafe uv_timer_start(
                timer,
                { timer in
                    guard let data = unsafe timer?.pointee.data else { return }
                    unsafe Unmanaged<ListenerWatch>.fromOpaque(data).takeUnretainedValue().resume()
                }, Self.pauseMilliseconds, 0)
            loop.acceptFailed(error)
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe uv_poll_stop(poll)
        unsafe uv_timer_stop(timer)
        unsafe uv_close(patchbay_poll_handle(poll)) { handle in unsafe handle?.deallocate() }
        unsafe uv_close(patchbay_timer_handle(timer)) { handle in unsafe handle?.deallocate() }
        listener.close()
    }
}

import COpenSSL
import Foundation
import Glibc
import Synchronization

/// A server on a free port that records requests and sends scripted responses. Uses plain sockets and OpenSSL, independently of the code
/// under test.
///
/// `@unchecked Sendable`: mutable state is accessed only under `condition`.
final class RawReceiver: @unchecked Sendable {
    struct Request: Sendable {
        var path: String
        var fields: [String: String]
        var body: [UInt8]
    }

    enum Answer: Sendable {
        case status(Int)
        /// These bytes, then the end of the connection.
        case text(String)
        /// These bytes, and nothing more for the duration of the test.
        case part(String)
        /// No response for the duration of the test.
        case silence
    }

    let port: Int
    private let descriptor: Int32
    private let tls: OpaquePointer?
    private let answer: @Sendable (Request, _ number: Int) -> Answer
    private let condition = NSCondition()
    private var received: [Request] = []
    private var held: [Int32] = []

    /// - Parameter answer: returns the response to a request, numbered from 0. Called on the connection's thread.
    init(certificate: Certificate? = nil, _ answer: @escaping @Sendable (Request, _ number: Int) -> Answer = { _, _ in .status(200) })
        throws
    {
        _ = signal(SIGPIPE, SIG_IGN)
        tls = certificate.map(Self.context)
        self.answer = answer
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isUp = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isUp else { throw SocketFault("no receiver", errno) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let peer = accept(descriptor, nil, nil)
                guard peer >= 0, let self else {
                    // Close only here: the descriptor may be reused as soon as it is closed.
                    for number in [peer, descriptor] where number >= 0 { _ = Glibc.close(number) }
                    return
                }
                Thread.detachNewThread { self.serve(peer) }
            }
        }
    }

    func url(_ path: String = "/hook", host: String = "127.0.0.1") -> String { "\(tls == nil ? "http" : "https")://\(host):\(port)\(path)" }

    var requests: [Request] { condition.withLock { received } }

    /// Blocks until this many requests have arrived.
    func wait(for count: Int, within span: TimeInterval = 15) throws {
        let deadline = Date(timeIntervalSinceNow: span)
        try condition.withLock {
            while received.count < count {
                guard condition.wait(until: deadline) else { throw DidNotHappen(what: "\(count) requests; \(received.count) came") }
            }
        }
    }

    /// Refuses new connections and releases those without a response.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        let peers = condition.withLock {
            defer { held = [] }
            return held
        }
        for peer in peers { _ = Glibc.close(peer) }
    }

    private func serve(_ peer: Int32) {
        var secured: OpaquePointer?
        if let tls {
            secured = SSL_new(tls)
            SSL_set_fd(secured, peer)
            guard SSL_accept(secured) == 1 else {
                SSL_free(secured)
                _ = Glibc.close(peer)
                return
            }
        }
        defer { SSL_free(secured) }
        guard let request = readRequest(peer, secured) else {
            _ = Glibc.close(peer)
            return
        }
        let number = condition.withLock {
            received.append(request)
            condition.broadcast()
            return received.count - 1
        }
        switch answer(request, number) {
        case .status(let status): write("HTTP/1.1 \(status) X\r\ncontent-length: 0\r\n\r\n", peer, secured)
        case .text(let text): write(text, peer, secured)
        case .part(let text):
            write(text, peer, secured)
            return condition.withLock { held.append(peer) }
        case .silence: return condition.withLock { held.append(peer) }
        }
        if let secured { SSL_shutdown(secured) }
        _ = Glibc.close(peer)
    }

    private func readRequest(_ peer: Int32, _ secured: OpaquePointer?) -> Request? {
        var bytes: [UInt8] = []
        let mark = Array("\r\n\r\n".utf8)
        while true {
            if let end = bytes.firstRange(of: mark) {
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
                }
                let body = bytes[end.upperBound...]
                if body.count >= Int(fields["content-length"] ?? "0") ?? 0 {
                    let requestLine = lines[0].split(separator: " ")
                    return Request(path: requestLine.count > 1 ? String(requestLine[1]) : "", fields: fields, body: Array(body))
                }
            }
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = secured.map { Int(SSL_read($0, &buffer, Int32(buffer.count))) } ?? recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
    }

    private func write(_ text: String, _ peer: Int32, _ secured: OpaquePointer?) {
        let bytes = Array(text.utf8)
        if let secured { SSL_write(secured, bytes, Int32(bytes.count)) } else { send(peer, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    private static func context(_ certificate: Certificate) -> OpaquePointer {
        let context = SSL_CTX_new(TLS_server_method())!
        precondition(
            SSL_CTX_use_certificate_file(context, certificate.certificateURL.path, SSL_FILETYPE_PEM) == 1
                && SSL_CTX_use_PrivateKey_file(context, certificate.keyURL.path, SSL_FILETYPE_PEM) == 1, "OpenSSL takes no certificate")
        return context
    }
}

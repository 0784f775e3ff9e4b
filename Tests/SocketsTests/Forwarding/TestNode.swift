import COpenSSL
import Foundation
import HTTPTypes
import Synchronization
import Testing
import Wire

@testable import Sockets

/// A loop on a thread of its own with listeners for clients, proxies and nodes, which tests control by closures on that thread.
///
/// `@unchecked Sendable`: everything but `mailbox`, `finished` and the ports is used on the loop's thread, or before it starts.
final class TestNode: SocketDelegate, @unchecked Sendable {
    private let mailbox = Mailbox<@Sendable (TestNode) -> Void>()
    private let finished = DispatchSemaphore(value: 0)
    private(set) var loop: Loop!
    /// By entrance.
    private(set) var ports: [Entrance: Int] = [:]

    var onHold: (HeldUpgrade) -> Bool = { _ in false }
    var onFailed: ((HeldUpgrade, ForwardFailure) -> Void)?
    var onAdmit: (ReceivedRequest) -> HTTPServerResponse? = { _ in nil }
    var onBinary: ([UInt8], Connection) -> Void = { _, _ in }
    var onText: ([UInt8], Connection) -> Void = { _, _ in }
    var onWritable: (Connection) -> Void = { _ in }

    var held: [HeldUpgrade] = []
    var failures: [ForwardFailure] = []
    var abandoned = 0
    var admitted: [ReceivedRequest] = []
    var open: [Connection] = []
    var ends: [(end: ConnectionEnd, peerCode: UInt16?)] = []
    var connectionFailures: [ConnectionFailure] = []

    init(_ settings: LoopSettings = .test()) throws {
        loop = try Loop(settings: settings, delegate: self)
        for entrance in [Entrance.clients, .proxies, .nodes] {
            let listener = try Listener(host: "127.0.0.1", port: 0, shared: false, entrance: entrance)
            ports[entrance] = listener.port
            loop.listen(on: listener)
        }
        let thread = Thread { [self] in
            loop.run(wokenBy: mailbox)
            finished.signal()
        }
        thread.name = "loop"
        thread.start()
    }

    /// Ends the loop, and waits for that.
    func stop() {
        mailbox.post({ $0.loop.stop() })
        finished.wait()
    }

    /// Runs a closure on the loop's thread, and waits for its result.
    func ask<T: Sendable>(_ body: @escaping @Sendable (TestNode) -> T) -> T {
        let (done, result) = (DispatchSemaphore(value: 0), Box<T>())
        mailbox.post({ node in
            result.value = body(node)
            done.signal()
        })
        done.wait()
        return result.value!
    }

    /// Waits until a condition holds, which is examined on the loop's thread.
    func wait(_ what: String = "", for condition: @escaping @Sendable (TestNode) -> Bool, location: SourceLocation = #_sourceLocation) {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if ask(condition) { return }
            usleep(3_000)
        }
        Issue.record("it did not happen: \(what)", sourceLocation: location)
    }

    private final class Box<T>: @unchecked Sendable { var value: T? }

    func endpoint(_ entrance: Entrance = .nodes) -> Endpoint {
        Endpoint(host: "127.0.0.1", port: ports[entrance]!, usesTLS: entrance.usesTLS)
    }

    // MARK: SocketDelegate

    func hold(_ upgrade: HeldUpgrade) -> Bool {
        held.append(upgrade)
        return onHold(upgrade)
    }
    func failed(_ upgrade: HeldUpgrade, _ failure: ForwardFailure) {
        failures.append(failure)
        if let onFailed { onFailed(upgrade, failure) } else { upgrade.refuse(unavailable(upgrade)) }
    }
    func unavailable(_ upgrade: HeldUpgrade) -> HTTPServerResponse { .error(.serviceUnavailable, "home_unavailable", "try again") }
    func abandoned(_ upgrade: HeldUpgrade) { abandoned += 1 }
    func admit(_ request: ReceivedRequest, as connection: Connection) -> HTTPServerResponse? {
        admitted.append(request)
        return onAdmit(request)
    }
    func handle(_ exchange: HTTPExchange) { exchange.respond(HTTPServerResponse(text: "plain")) }
    func opened(_ connection: Connection) { open.append(connection) }
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) { onBinary(Array(message), connection) }
    func received(text message: UnsafeRawBufferPointer, from connection: Connection) { onText(Array(message), connection) }
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
    func writable(_ connection: Connection) { onWritable(connection) }
    func closed(_ connection: Connection, _ end: ConnectionEnd) {
        open.removeAll { $0 === connection }
        ends.append((end, connection.peerCloseCode))
    }
    func failed(_ connection: Connection, _ error: ConnectionFailure) { connectionFailures.append(error) }
    func woken() {
        var messages: [@Sendable (TestNode) -> Void] = []
        mailbox.drain(into: &messages)
        for message in messages { message(self) }
    }
    func timerRang() {}
}

extension LoopSettings {
    /// Trusts the test's certificate, and this machine as a proxy and as a node.
    static func test() -> LoopSettings {
        var settings = LoopSettings(
            server: TestCertificate.usual.files, client: .authority(path: TestCertificate.usual.files.certificatePath))
        let loopback = ProxyTrust(networks: [try! IPNetwork("127.0.0.0/9")])
        (settings.proxies, settings.nodes) = (loopback, loopback)
        return settings
    }
}

/// A self-signed certificate for an IPv4 address, made for one run of the tests in a temporary directory.
final class TestCertificate: Sendable {
    static let usual = TestCertificate([127, 0, 0, 1])

    private let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-tests-\(UUID().uuidString)")
    var files: TLSFiles {
        TLSFiles(
            certificatePath: directory.appending(path: "certificate.pem").path, privateKeyPath: directory.appending(path: "key.pem").path)
    }

    init(_ address: [UInt8]) {
        try! FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)!
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        precondition(EVP_PKEY_keygen_init(context) == 1 && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1)
        precondition(EVP_PKEY_keygen(context, &key) == 1)
        defer { EVP_PKEY_free(key) }
        let certificate = X509_new()!
        defer { X509_free(certificate) }
        X509_set_version(certificate, 2)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3_600)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400)
        let name = X509_get_subject_name(certificate)
        // MBSTRING_UTF8, a macro that Swift does not import.
        X509_NAME_add_entry_by_txt(name, "CN", 0x1000, "test", -1, -1, 0)
        X509_set_issuer_name(certificate, name)
        X509_set_pubkey(certificate, key)
        let addresses = ASN1_OCTET_STRING_new()
        // GeneralNames (RFC 5280 section 4.2.1.6) with one iPAddress.
        ASN1_OCTET_STRING_set(addresses, [0x30, 0x06, 0x87, 0x04] + address, 8)
        let alternative = X509_EXTENSION_create_by_NID(nil, NID_subject_alt_name, 0, addresses)
        X509_add_ext(certificate, alternative, -1)
        X509_EXTENSION_free(alternative)
        ASN1_OCTET_STRING_free(addresses)
        precondition(X509_sign(certificate, key, EVP_sha256()) > 0)
        write(files.certificatePath) { PEM_write_bio_X509($0, certificate) }
        write(files.privateKeyPath) { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func write(_ path: String, _ body: (OpaquePointer) -> Int32) {
        let file = BIO_new_file(path, "w")!
        precondition(body(file) == 1, "OpenSSL wrote no PEM")
        BIO_free(file)
    }
}

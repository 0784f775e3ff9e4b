import Backend
import Engine
import Foundation
import Gateway
import Identity
import PatchbayClient
import Sockets
import Store
import Synchronization
import Wire

/// A real gateway with accounts, over TLS, for calls between users.
struct CallGateway: Sendable {
    let url: String
    let keys: KeyRing
    private let backend: BackendServices

    /// Runs a gateway with a temporary store during `body`.
    ///
    /// - Parameters:
    ///   - publicURL: the URL of rooms; nil for the gateway's own.
    ///   - speech: generates speech clips; nil for a gateway without clips.
    static func run(
        ringTime: Duration = CallSettings().ringTime, publicURL: String? = nil, speech: (any SpeechGenerator)? = nil,
        _ body: @Sendable (CallGateway) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-client-calls-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cost = PasswordHash.Cost(logBlocks: 10, blockSize: 1, parallelism: 1)
        let store = try Store(directory: directory, masterKeys: [MasterKey()], passwordCost: cost)
        let backend = try BackendServices(store: store, publicURL: publicURL)
        let files = try TestCertificates.shared.get()
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        var service: CallService?
        var writer: AuditEventWriter?
        var clips: SpeechService?
        let gateway = try Gateway(
            settings: GatewaySettings(port: 0, tls: TLSFiles(certificatePath: files.certificate, privateKeyPath: files.privateKey)),
            keys: keys, auditEvents: backend.auditEvents, calls: backend.callInbox
        ) { desk, keys in
            let calls = backend.callService(
                desk, keys: keys, server: ServerInfo(version: "tests", node: "n"), settings: CallSettings(ringTime: ringTime))
            service = calls
            let sessions = backend.sessionService(desk, keys: keys)
            writer = backend.auditEventWriter(sessions, summarizer: ExtractiveSummarizer())
            clips = speech.map { backend.speechService($0, desk, keys: keys, counters: ServiceCounters()) }
            return backend.routes(sessions, calls)
                + SpeechRoutes.routes(clips, accounts: backend.accounts, assistants: backend.assistants, keys: keys)
        }
        let test = CallGateway(url: "wss://127.0.0.1:\(gateway.port)", keys: keys, backend: backend)
        let speaking = clips.map { clips in Task { try await clips.run() } }
        try await withThrowingTaskGroup(of: Void.self) { [service, writer] group in
            group.addTask { try await gateway.run() }
            group.addTask { try await service?.run() }
            group.addTask { try await writer?.run() }
            defer { for _ in 1...2 { gateway.drain() } }
            while gateway.state.phase != .serving { try await Task.sleep(for: .milliseconds(1)) }
            try await body(test)
        }
        speaking?.cancel()
        try await speaking?.value
        try store.close()
    }

    func user(_ name: String) async throws -> CallUser {
        let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        return CallUser(gateway: self, id: try await backend.store.accounts.user(issuer: "tests", subject: name, email: nil, at: now).id)
    }

    /// Two users with a device each: the caller and the callee.
    func annAndBob() async throws -> (ann: CallUser, bob: CallUser, caller: Channel, callee: Channel) {
        let (ann, bob) = (try await user("ann"), try await user("bob"))
        return (ann, bob, try await ann.device(), try await bob.device())
    }

    /// An assistant's process, which answers calls.
    func assistant(_ id: String) async throws -> Channel {
        var grant = VideoGrant()
        grant.agent = true
        let claims = AccessToken(
            identity: CallParty.assistantPrefix + id, expires: Int64(Date().timeIntervalSince1970) + 600, video: grant)
        guard let signer = keys.signer else { preconditionFailure("these keys sign") }
        return try await Channel.connect(url: url, userToken: try TokenMinter.mint(claims, with: signer), options: options)
    }

    var options: RoomOptions { RoomOptions(trust: .authority(path: (try? TestCertificates.shared.get().authority) ?? "")) }

    func token(for user: UserID, age: Int64) throws -> String {
        try backend.accounts.tokens.mint(for: user, now: Int64(Date().timeIntervalSince1970) - age)
    }
}

struct CallUser: Sendable {
    let gateway: CallGateway
    let id: UserID

    /// The user's identity in rooms.
    var identity: Identity { Identity(text: id.text) }
    var party: CallParty { .user(identity) }

    /// - Parameter age: seconds since the token was issued.
    func token(age: Int64 = 0) throws -> String { try gateway.token(for: id, age: age) }

    /// Connects another device of the user.
    func device(age: Int64 = 0, _ change: (inout RoomOptions) -> Void = { _ in }) async throws -> Channel {
        var options = gateway.options
        change(&options)
        return try await Channel.connect(url: gateway.url, userToken: try token(age: age), options: options)
    }

    /// Connects a device whose token source returns tokens of these ages; the last one repeatedly.
    func device(renewing ages: [Int64]) async throws -> Channel {
        let left = Mutex(ages[...])
        return try await Channel.connect(url: gateway.url, options: gateway.options) {
            try token(age: left.withLock { $0.count > 1 ? $0.removeFirst() : $0[$0.startIndex] })
        }
    }
}

extension RoomConnection {
    /// Publishes a track and returns another participant's frames of it.
    func voice(heardIn other: RoomConnection, as user: CallUser) async throws -> (voice: LocalTrack, frames: AsyncStream<ReceivedFrame>) {
        let voice = try await publish(name: "mic")
        return (voice, other.frames(of: try await other.track(of: user.identity.text).sid))
    }
}

import Foundation
import Identity
import Store

/// A folder with a store in it, as `serve --dev --data` would make it, and one conversation of Ann's.
final class StoreFolder: Sendable {
    static let password = "correct horse battery"

    let path: String
    let session: SessionID

    init() async throws {
        path = FileManager.default.temporaryDirectory.appending(path: "patchbay-store-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let key = try MasterKey.make(file: path + "/master.key")
        let store = try Store(
            directory: path, masterKeys: [key], passwordCost: PasswordHash.Cost(logBlocks: 10, blockSize: 1, parallelism: 1))
        // Old ones are not kept.
        let start = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) - 60_000)
        let user = try await store.accounts.createUser(email: "ann@example.org", password: SecretText(Self.password), at: start).id
        _ = try await store.accounts.updateSettings(of: user) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
        session = try await store.sessions.start(SessionRequest(context: "phone"), of: user, at: start).session.id
        let said: [(Turn.Speaker, String)] = [
            (.user, "Book a table for two at seven."), (.assistant, "Your table at the harbour is booked."),
        ]
        for (index, (speaker, text)) in said.enumerated() {
            let turn = Turn(id: TurnID(), sessionID: session, timestamp: start + .seconds(index + 1), speaker: speaker, text: text)
            _ = try await store.sessions.append(turn, of: user)
        }
        _ = try await store.sessions.end(session, of: user, at: start + .seconds(10))
        try store.close()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Adds a recording to the conversation; its content does not matter here.
    ///
    /// - Parameter masterKey: the key's file, if it was moved.
    func addRecording(named name: String, _ content: Data, masterKey: String? = nil) async throws {
        let store = try Store(directory: path, masterKeys: [MasterKey(file: masterKey ?? path + "/master.key")])
        let user = try await store.accounts.user(email: "ann@example.org")
        _ = try await store.sessions.addRecording(SessionRecording(name: name), to: session, of: user.id)
        try store.close()
        try FileManager.default.createDirectory(atPath: path + "/recordings", withIntermediateDirectories: true)
        try content.write(to: URL(filePath: path + "/recordings/" + name))
    }

    /// Runs a command on it.
    func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program.Outcome {
        try await Program.run(nil, arguments + ["--data", path], environment: environment, seconds: 30)
    }

    /// The path of a file beside the store, deleted with it.
    func file(_ name: String) -> String { path + "/" + name }
}

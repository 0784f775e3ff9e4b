internal import Engine
internal import HTTPServer
internal import Logging
internal import ServiceLifecycle
internal import Store
internal import Wire

/// Keeps the calls: one task that takes what comes through the `CallInbox` in its order. It ends when no more comes, which is when the gateway
/// has ended; calls live no longer than that.
package struct CallService: Service {
    private let door: CallInbox
    private let accounts: AccountService
    private let desk: RoomService
    private let pass: CallTokenMinter
    private let settings: CallSettings
    private let hooks: CallHooks
    private let log = Logger(label: "patchbay.calls")

    /// Changes whose webhooks wait for the store. Beyond it they are lost, and that is logged.
    private static let webhooksMax = 10_000
    private static let storePause = Duration.seconds(1)

    init(door: CallInbox, accounts: AccountService, desk: RoomService, pass: CallTokenMinter, settings: CallSettings, hooks: CallHooks) {
        self.door = door
        self.accounts = accounts
        self.desk = desk
        self.pass = pass
        self.settings = settings
        self.hooks = hooks
    }

    package func run() async throws {
        let (webhooks, sink) = AsyncStream.makeStream(of: [OutgoingWebhook].self, bufferingPolicy: .bufferingOldest(Self.webhooksMax))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await some in webhooks { await keep(some) } }
            await drive { if case .dropped = sink.yield($0) { log.error("webhooks of calls are lost; the store was too slow") } }
            sink.finish()
            await group.waitForAll()
        }
    }

    private func drive(telling tell: @escaping ([OutgoingWebhook]) -> Void) async {
        let calls = CallSwitch(door: door, desk: desk, pass: pass, settings: settings, hooks: hooks, telling: tell)
        await withDiscardingTaskGroup { group in
            var armed: Instant?
            for await message in door.inbox {
                if case .deadlinePassed = message { armed = nil }
                if let (device, bearer) = calls.handle(message) {
                    group.addTask { door.post(.identified(device, await user(bearer))) }
                }
                guard let deadline = calls.deadline, armed.map({ deadline < $0 }) ?? true else { continue }
                armed = deadline
                let pause = deadline - calls.now
                group.addTask {
                    do { try await Task.sleep(for: max(.zero, pause)) } catch { return }
                    door.post(.deadlinePassed)
                }
            }
            group.cancelAll()
        }
    }

    private func user(_ bearer: UserTokens.Bearer) async -> Result<Identity, DeviceError> {
        do {
            return .success(Identity(text: try await accounts.user(bearer).text))
        } catch is HTTPError {
            return .failure(DeviceError(reason: .tokenRevoked))
        } catch {
            // The store cannot tell now: it may come back.
            return .failure(DeviceError(reason: .serverShutdown))
        }
    }

    private func keep(_ webhooks: [OutgoingWebhook]) async {
        while !Task.isCancelled {
            do {
                return try await accounts.store.tell(webhooks, at: .now)
            } catch StoreError.full, StoreError.busy {
                try? await Task.sleep(for: Self.storePause)
            } catch {
                return log.error("webhooks of a call are lost", metadata: ["error": "\(error)"])
            }
        }
    }

    // MARK: For HTTP

    func checkThatCallsMayStart() throws(HTTPError) {
        try desk.checkThatRoomsAreOpen()
    }

    func ask(_ request: CallRequest, of user: UserID, host: String?) async throws(CallError) -> CallReply {
        try await CallWaiter.answer { post(.web(request, of: Identity(text: user.text), host: host, $0)) }
    }

    func calls(of user: UserID) async throws(CallError) -> [CallInfo] {
        try await CallWaiter.answer { post(.calls(of: Identity(text: user.text), $0)) }
    }

    func call(_ id: CallID, of user: UserID) async throws(CallError) -> CallInfo {
        try await CallWaiter.answer { post(.call(id, of: Identity(text: user.text), $0)) }
    }

    /// The user's account is deleted.
    func forget(_ user: UserID) {
        door.post(.forget(Identity(text: user.text)))
    }

    /// What does not fit is answered by whoever waits being let go.
    private func post(_ message: CallInbox.Message) {
        _ = door.post(request: message)
    }
}

#if canImport(CallKit) && os(iOS)
    import AVFAudio
    import CallKit
    import Foundation
    import PatchbayClient
    import PushKit
    import Wire

    /// Makes and receives calls with the system's call screen, also from the lock screen and after a VoIP push.
    ///
    /// `SystemCallScreen` makes the decisions. This class only passes CallKit's actions to it, its requests to the channel and its
    /// reports to the provider. Create it at launch, before the first push is delivered.
    @MainActor
    public final class CallKitPhone: NSObject {
        private let provider: CXProvider
        private let controller = CXCallController()
        private let pushes = PKPushRegistry(queue: .main)
        private let connect: @Sendable () async throws -> Channel
        private let registerPush: @Sendable (String) async -> Void
        private var screen = SystemCallScreen()
        private var channel: Channel?
        private var connecting: Task<Channel, any Error>?
        private var rooms: [CallID: RoomConnection] = [:]

        /// - Parameters:
        ///   - name: the app's name as shown by the system.
        ///   - connect: opens a channel with the user's tokens.
        ///   - registerPush: registers a VoIP token, in hexadecimal, with `POST /v1/devices`.
        public init(
            name: String, connect: @escaping @Sendable () async throws -> Channel,
            registerPush: @escaping @Sendable (String) async -> Void
        ) {
            let configuration = CXProviderConfiguration()
            configuration.supportsVideo = false
            configuration.maximumCallGroups = 2
            configuration.maximumCallsPerCallGroup = 1
            configuration.supportedHandleTypes = [.generic]
            provider = CXProvider(configuration: configuration)
            self.connect = connect
            self.registerPush = registerPush
            super.init()
            provider.setDelegate(self, queue: .main)
            pushes.delegate = self
            pushes.desiredPushTypes = [.voIP]
        }

        /// Asks the system to start a call to an id, an e-mail address or `@handle`.
        public func call(_ handle: String) async throws {
            let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: handle))
            try await controller.request(CXTransaction(action: action))
        }

        // MARK: The channel

        /// Returns the channel, and opens it if necessary.
        private func openChannel() async throws -> Channel {
            if let channel, channel.disconnection == nil { return channel }
            if let connecting { return try await connecting.value }
            let opening = Task { [connect] in try await connect() }
            connecting = opening
            defer { connecting = nil }
            let opened = try await opening.value
            channel = opened
            screen.synchronize(with: opened.calls.calls).forEach(report)
            Task {
                for await event in opened.events {
                    if case .reconnected = event { screen.synchronize(with: opened.calls.calls).forEach(report) }
                    if case .ended(let call, _) = event, let room = rooms.removeValue(forKey: call.id) { Task { await room.leave() } }
                    screen.apply(event).forEach(report)
                }
            }
            return opened
        }

        private func report(_ report: SystemCallReport) {
            switch report {
            case .incoming(let uuid, let display):
                provider.reportNewIncomingCall(with: uuid, update: update(display)) { error in
                    // The system does not show the call: the user has enabled Do Not Disturb, or has blocked the caller.
                    guard error != nil else { return }
                    Task { @MainActor in self.perform(.end(uuid)) { _ in } }
                }
            case .connecting(let uuid, let time): provider.reportOutgoingCall(with: uuid, startedConnectingAt: time)
            case .connected(let uuid, let time): provider.reportOutgoingCall(with: uuid, connectedAt: time)
            case .updated(let uuid, let display): provider.reportCall(with: uuid, updated: update(display))
            case .ended(let uuid, let ending): provider.reportCall(with: uuid, endedAt: nil, reason: reason(ending))
            }
        }

        private func update(_ display: SystemCallDisplay) -> CXCallUpdate {
            let update = CXCallUpdate()
            update.remoteHandle = CXHandle(type: .generic, value: display.handle)
            if !display.name.isEmpty { update.localizedCallerName = display.name }
            update.hasVideo = false
            update.supportsHolding = true
            update.supportsDTMF = true
            update.supportsGrouping = false
            update.supportsUngrouping = false
            return update
        }

        private func reason(_ ending: SystemCallEnding) -> CXCallEndedReason {
            switch ending {
            case .failed: .failed
            case .remoteEnded: .remoteEnded
            case .unanswered: .unanswered
            case .answeredElsewhere: .answeredElsewhere
            case .declinedElsewhere: .declinedElsewhere
            }
        }

        // MARK: Actions

        /// Performs an action and reports whether it succeeded.
        private func perform(_ action: SystemCallAction, then finish: @escaping @MainActor (Bool) -> Void) {
            switch screen.perform(action) {
            case .done: finish(true)
            case .refused: finish(false)
            case .request(let request):
                Task {
                    do {
                        try await send(request)
                        finish(true)
                    } catch {
                        if case .start(let uuid, _, _) = request { screen.notStarted(uuid) }
                        finish(isEnd(request))
                    }
                }
            }
        }

        /// Whether a request ends a call. The system drops a call that the user has ended, even if the request fails; the call ends
        /// there once this device has left its room.
        private func isEnd(_ request: SystemCallRequest) -> Bool {
            switch request {
            case .reject: return true
            case .hangUp(let id):
                if let room = rooms.removeValue(forKey: id) { Task { await room.leave() } }
                return true
            default: return false
            }
        }

        private func send(_ request: SystemCallRequest) async throws {
            let channel = try await openChannel()
            func call(_ id: CallID) throws -> Call {
                guard let call = channel.calls[id] else { throw CallKitPhoneError.callIsOver }
                return call
            }
            switch request {
            case .start(let uuid, let to, let callerName):
                let (begun, room) = try await channel.call(to, callerName: callerName, idempotencyKey: uuid.uuidString)
                rooms[begun.id] = room
                let (reports, next) = screen.started(uuid, as: begun)
                reports.forEach(report)
                if let next { try await send(next) } else { try await talk(in: room) }
            case .answer(let id):
                let room = try await call(id).answer()
                rooms[id] = room
                try await talk(in: room)
            case .reject(let id): try await call(id).reject()
            case .hangUp(let id): try await call(id).hangUp()
            case .hold(let id, let isHeld): try await call(id).hold(isHeld)
            case .mute(let id, let isMuted): try await call(id).mute(isMuted)
            case .sendDTMF(let id, let digits): try await rooms[id]?.sendDigits(digits)
            }
        }

        /// Publishes the microphone and plays the other participants. The app supplies the audio, with an `AVAudioEngine` that it starts in
        /// `provider(_:didActivate:)` and stops in `provider(_:didDeactivate:)`.
        private func talk(in room: RoomConnection) async throws {
            try AVAudioSession.sharedInstance().setCategory(.playAndRecord, mode: .voiceChat)
            NotificationCenter.default.post(name: .callKitPhoneJoined, object: room)
        }
    }

    /// The reason why an action failed.
    public enum CallKitPhoneError: Error {
        case callIsOver
    }

    extension Notification.Name {
        /// Posted when a room was joined; the object is its `RoomConnection`.
        public static let callKitPhoneJoined = Notification.Name("callKitPhoneJoined")
        /// Posted when the system activates or deactivates the app's audio session.
        public static let callKitPhoneAudioActivated = Notification.Name("callKitPhoneAudioActivated")
        public static let callKitPhoneAudioDeactivated = Notification.Name("callKitPhoneAudioDeactivated")
    }

    extension CallKitPhone: @preconcurrency CXProviderDelegate {
        public func providerDidReset(_ provider: CXProvider) {
            for request in screen.reset() { Task { try? await send(request) } }
        }

        public func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
            guard let party = CallParty(text: action.handle.value) else { return action.fail() }
            finish(action, .start(action.callUUID, [party], callerName: ""))
        }

        public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { finish(action, .answer(action.callUUID)) }

        public func provider(_ provider: CXProvider, perform action: CXEndCallAction) { finish(action, .end(action.callUUID)) }

        public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
            finish(action, .setHeld(action.callUUID, action.isOnHold))
        }

        public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
            finish(action, .setMuted(action.callUUID, action.isMuted))
        }

        public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
            finish(action, .playDTMF(action.callUUID, action.digits))
        }

        public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
            NotificationCenter.default.post(name: .callKitPhoneAudioActivated, object: nil)
        }

        public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
            NotificationCenter.default.post(name: .callKitPhoneAudioDeactivated, object: nil)
        }

        private func finish(_ action: CXCallAction, _ meaning: SystemCallAction) {
            perform(meaning) { isDone in if isDone { action.fulfill() } else { action.fail() } }
        }
    }

    extension CallKitPhone: @preconcurrency PKPushRegistryDelegate {
        public func pushRegistry(_ registry: PKPushRegistry, didUpdate credentials: PKPushCredentials, for type: PKPushType) {
            let token = credentials.token.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
            Task { [registerPush] in await registerPush(token) }
        }

        /// Reports a call for each VoIP push. iOS terminates an app that does not do so before calling `completion`.
        public func pushRegistry(
            _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
            completion: @escaping () -> Void
        ) {
            if let push = CallPush(payload: payload.dictionaryPayload) {
                report(screen.announced(push))
            } else {
                let unknown = UUID()
                report(.incoming(unknown, SystemCallDisplay(handle: "", name: "")))
                report(.ended(unknown, .failed))
            }
            completion()
            Task { _ = try? await openChannel() }
        }
    }
#endif

#if canImport(CallKit) && os(iOS)
    import AVFAudio
    import CallKit
    import CopilotModel
    import Foundation
    import PatchbayClient

    /// Connects `SystemCall` with CallKit: performs its effects and passes the system's actions to it.
    @MainActor
    final class CallManager: NSObject {
        private let call: AssistantCall
        private let audio: CallAudio
        private let isLoggingEnabled: @MainActor () -> Bool
        private let provider: CXProvider
        private let controller = CXCallController()
        private var system = SystemCall()
        private var watching: Task<Void, Never>?

        /// - Parameter isLoggingEnabled: returns the user's consent as known to the app.
        init(call: AssistantCall, audio: CallAudio, isLoggingEnabled: @escaping @MainActor () -> Bool) {
            self.call = call
            self.audio = audio
            self.isLoggingEnabled = isLoggingEnabled
            let configuration = CXProviderConfiguration()
            configuration.supportsVideo = false
            configuration.maximumCallsPerCallGroup = 1
            configuration.supportedHandleTypes = [.generic]
            provider = CXProvider(configuration: configuration)
            super.init()
            provider.setDelegate(self, queue: .main)
            watching = Task { [weak self] in
                for await state in call.states { self?.handle(.phase(state.phase)) }
            }
        }

        func startAssistantCall(context: Sessions.Context) {
            handle(.callTapped(context, id: UUID()))
        }

        func endAssistantCall() {
            handle(.hangUpTapped)
        }

        func setMuted(_ isMuted: Bool) {
            handle(.muteTapped(isMuted))
        }

        private func handle(_ input: SystemCall.Input) {
            for effect in system.handle(input) { perform(effect) }
        }

        private func perform(_ effect: SystemCall.Effect) {
            switch effect {
            case .requestStart(let id):
                let action = CXStartCallAction(call: id, handle: CXHandle(type: .generic, value: Texts.callee))
                request(action) { [weak self] in self?.handle(.startRefused(id)) }
            case .requestEnd(let id): request(CXEndCallAction(call: id)) { [weak self] in self?.handle(.endPerformed(id)) }
            case .requestMute(let id, let isMuted): request(CXSetMutedCallAction(call: id, muted: isMuted)) {}
            case .reportConnecting(let id):
                // An assistant cannot be put on hold: another call ends this one.
                let update = CXCallUpdate()
                update.supportsHolding = false
                provider.reportCall(with: id, updated: update)
                provider.reportOutgoingCall(with: id, startedConnectingAt: nil)
            case .reportConnected(let id): provider.reportOutgoingCall(with: id, connectedAt: nil)
            case .reportEnded(let id, let hasFailed):
                provider.reportCall(with: id, endedAt: nil, reason: hasFailed ? .failed : .remoteEnded)
            case .start(let context):
                call.start(AssistantCallRequest(context, isLoggingEnabled: isLoggingEnabled()))
            case .end: call.end()
            case .setMuted(let isMuted): call.setMuted(isMuted)
            }
        }

        private func request(_ action: CXAction, refused: @escaping @MainActor () -> Void) {
            controller.request(CXTransaction(action: action)) { error in
                guard error != nil else { return }
                Task { @MainActor in refused() }
            }
        }
    }

    /// The provider calls its delegate on the main queue.
    extension CallManager: @preconcurrency CXProviderDelegate {
        func providerDidReset(_ provider: CXProvider) {
            handle(.reset)
        }

        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
            do {
                try audio.configureSession()
                handle(.startPerformed(action.callUUID))
                action.fulfill()
            } catch {
                handle(.startRefused(action.callUUID))
                action.fail()
            }
        }

        func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
            handle(.endPerformed(action.callUUID))
            action.fulfill()
        }

        func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
            handle(.mutePerformed(action.callUUID, action.isMuted))
            action.fulfill()
        }

        func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
            audio.sessionActivated()
        }

        func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
            audio.sessionDeactivated()
        }
    }
#endif

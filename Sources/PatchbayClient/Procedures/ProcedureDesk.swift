internal import Synchronization
internal import Wire

/// Who answers which procedure, and the calls at work. Each call is a task; those at work are cancelled when the room ends.
final class ProcedureDesk: Sendable {
    private struct State {
        var handlers: [String: ProcedureHandler] = [:]
        var calls: [String: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// - Parameter handler: nil takes the procedure away.
    func set(_ handler: ProcedureHandler?, for method: String) {
        state.withLock { $0.handlers[method] = handler }
    }

    /// Sees to it that the caller gets exactly one answer. Called on the loop's thread.
    func answer(_ call: ProcedureInvocation, through door: RoomDoor) {
        state.withLock { state in
            guard !state.isClosed else { return }
            guard let handler = state.handlers[call.method] else {
                return door.post(.tell(.answerProcedure(ProcedureAnswer(requestId: call.id, error: .unsupportedMethod))))
            }
            guard state.calls.count < StreamLimits.procedureCallsMax else {
                let busy = ProcedureError(code: ProcedureError.applicationError.code, message: "the callee is busy; try again later")
                return door.post(.tell(.answerProcedure(ProcedureAnswer(requestId: call.id, error: busy))))
            }
            state.calls[call.id] = Task {
                door.post(.tell(.answerProcedure(await Self.result(of: call, handler))))
                self.state.withLock { $0.calls[call.id] = nil }
            }
        }
    }

    func cancelAll() {
        state.withLock { state in
            state.isClosed = true
            for call in state.calls.values { call.cancel() }
            state.calls.removeAll()
        }
    }

    static func result(of call: ProcedureInvocation, _ handler: ProcedureHandler) async -> ProcedureAnswer {
        do {
            let payload = try await handler(call)
            guard payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else {
                return ProcedureAnswer(requestId: call.id, error: .responseTooLarge)
            }
            return ProcedureAnswer(requestId: call.id, payload: payload)
        } catch let error as ProcedureError {
            return ProcedureAnswer(requestId: call.id, error: error)
        } catch {
            return ProcedureAnswer(requestId: call.id, error: .applicationError)
        }
    }
}

internal import Synchronization
public import Wire

/// A call of a procedure by another participant.
public struct ProcedureInvocation: Sendable, Hashable {
    /// The gateway's id of the call.
    public let id: String
    public let caller: Identity
    public let method: String
    /// At most 15,360 bytes of UTF-8.
    public let payload: String
    /// How long the caller waits for the response.
    public let timeout: Duration
}

/// Handles calls of a procedure. Returns the response, at most 15,360 bytes of UTF-8.
///
/// A thrown `ProcedureError` is sent to the caller unchanged (codes 1001–1999 are reserved); any other error as 1500, "application error".
public typealias ProcedureHandler = @Sendable (ProcedureInvocation) async throws -> String

/// The procedure handlers of a room and their running calls. Each call is a task; running tasks are cancelled when the room ends.
final class ProcedureHandlers: Sendable {
    private struct State {
        var handlers: [String: ProcedureHandler] = [:]
        var calls: [String: Task<Void, Never>] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// - Parameter handler: nil removes the method's handler.
    func set(_ handler: ProcedureHandler?, for method: String) {
        state.withLock { $0.handlers[method] = handler }
    }

    /// Runs the method's handler and sends exactly one response.
    func handle(_ call: ProcedureInvocation, room: RoomHandle) {
        state.withLock { state in
            guard !state.isClosed else { return }
            guard let handler = state.handlers[call.method] else {
                return Self.send(ProcedureAnswer(requestId: call.id, error: .unsupportedMethod), room)
            }
            guard state.calls.count < StreamLimits.procedureCallsMax else {
                let busy = ProcedureError(code: ProcedureError.applicationError.code, message: "the callee is busy; try again later")
                return Self.send(ProcedureAnswer(requestId: call.id, error: busy), room)
            }
            state.calls[call.id] = Task {
                Self.send(await Self.result(of: call, handler), room)
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

    private static func send(_ answer: ProcedureAnswer, _ room: RoomHandle) {
        room.submit { $0.answer(answer) }
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

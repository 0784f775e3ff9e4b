import Engine
import Gateway
import HTTPServer
import HTTPTypes
import Testing
import Wire

@testable import Backend

/// Procedure calls of services, without a caller in the room.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RoomProcedureTests {
    private let gateway: TestGateway
    private let ann: Caller

    init() throws {
        gateway = try TestGateway()
        ann = try Caller(gateway, room: "r", identity: "ann", shard: 1)
    }

    /// Starts a call, and waits until the callee has it.
    private func begin(timeoutMs: Int = 30_000) throws -> (outcome: Task<String, any Error>, id: String) {
        let rooms = gateway.gateway.rooms
        let call = ProcedureCall(to: Identity(text: "ann"), method: "greet", payload: "hi", timeoutMs: timeoutMs)
        let outcome = Task.detached { try await rooms.callProcedure(call, in: "r") }
        let id = try ann.event("a call") { event -> String? in
            guard case .procedureCalled(let id, let caller, "greet", "hi", timeoutMs) = event, caller.text.isEmpty else { return nil }
            return id
        }
        return (outcome, id)
    }

    @Test func answerIsReturned() async throws {
        let (outcome, id) = try begin()
        try ann.ask(.answerProcedure(ProcedureAnswer(requestId: id, payload: "hello")))
        #expect(try await outcome.value == "hello")
    }

    @Test func errorOfTheCalleeIsThrown() async throws {
        let error = ProcedureError(code: 404, message: "no such greeting")
        let (outcome, id) = try begin()
        try ann.ask(.answerProcedure(ProcedureAnswer(requestId: id, error: error)))
        await #expect(throws: error) { try await outcome.value }
    }

    @Test func unansweredCallTimesOut() async throws {
        let (outcome, _) = try begin(timeoutMs: 50)
        await #expect(throws: ProcedureError.responseTimeout) { try await outcome.value }
    }

    @Test func leavingCalleeFailsTheCall() async throws {
        let (outcome, _) = try begin()
        try ann.socket.send(text: #"{"type":"leave"}"#)
        await #expect(throws: ProcedureError.recipientDisconnected) { try await outcome.value }
    }

    @Test func endedRoomFailsTheCall() async throws {
        let (outcome, _) = try begin()
        #expect(await gateway.gateway.rooms.attempt(.delete, in: "r"))
        await #expect(throws: ProcedureError.recipientDisconnected) { try await outcome.value }
    }

    @Test func stoppedGatewayFailsTheCall() async throws {
        let (outcome, _) = try begin()
        gateway.gateway.drain()
        gateway.gateway.drain()
        await #expect(throws: (any Error).self) { try await outcome.value }
        try await gateway.ended()
        let rooms = gateway.gateway.rooms
        await #expect(throws: HTTPError.self) {
            try await rooms.callProcedure(ProcedureCall(to: Identity(text: "ann"), method: "greet"), in: "r")
        }
    }

    @Test func unknownRecipientsRoomsAndMethodsAreRefused() async throws {
        let rooms = gateway.gateway.rooms
        await #expect(throws: ProcedureError.recipientNotFound) {
            try await rooms.callProcedure(ProcedureCall(to: Identity(text: "bob"), method: "greet"), in: "r")
        }
        let long = String(repeating: "x", count: ProtocolLimits.rpcPayloadBytesMax + 1)
        await #expect(throws: ProcedureError.requestTooLarge) {
            try await rooms.callProcedure(ProcedureCall(to: Identity(text: "ann"), method: "greet", payload: long), in: "r")
        }
        await #expect(throws: RoomService.roomNotFound) {
            try await rooms.callProcedure(ProcedureCall(to: Identity(text: "ann"), method: "greet"), in: "s")
        }
        let error = await #expect(throws: HTTPError.self) {
            try await rooms.callProcedure(ProcedureCall(to: Identity(text: "ann"), method: ""), in: "r")
        }
        #expect(error?.code == .invalidArgument && error?.status.code == 400)
    }

    @Test func callAsACommandWithoutAnOutcomeIsRefused() async throws {
        let call = ProcedureCall(to: Identity(text: "ann"), method: "greet")
        #expect(await gateway.gateway.rooms.attempt(.callProcedure(call, number: 1), in: "r") == false)
        try ann.settle()
        #expect(ann.events.isEmpty)
    }
}

import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct ProcedureTests {
    private let bob = Identity(text: "bob")

    @Test func procedureReturnsAResponse() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let callee = try await gateway.join("bob")
            callee.onProcedure("greet") { call in "hello \(call.caller), \(call.payload)" }
            callee.onProcedure("refuse") { _ in throw ProcedureError(code: 77, message: "not today") }

            #expect(try await alice.call("greet", of: bob, payload: "how are you") == "hello alice, how are you")
            let refused = await #expect(throws: RequestFailure.self) { try await alice.call("refuse", of: bob) }
            #expect(refused?.procedureError == ProcedureError(code: 77, message: "not today"))
            let unknown = await #expect(throws: RequestFailure.self) { try await alice.call("nothing", of: bob) }
            #expect(unknown?.procedureError?.code == ProcedureError.unsupportedMethod.code)
            let nobody = await #expect(throws: RequestFailure.self) { try await alice.call("greet", of: Identity(text: "carol")) }
            #expect(nobody?.procedureError?.code == ProcedureError.recipientNotFound.code)
            await alice.leave()
            await callee.leave()
        }
    }

    @Test func slowProcedureTimesOut() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let callee = try await gateway.join("bob")
            callee.onProcedure("sleep") { _ in
                try await Task.sleep(for: .seconds(30))
                return ""
            }
            let failure = await #expect(throws: RequestFailure.self) {
                try await alice.call("sleep", of: bob, timeout: .milliseconds(200))
            }
            #expect(failure?.procedureError?.code == ProcedureError.responseTimeout.code)
            await alice.leave()
            await callee.leave()
        }
    }

    @Test func concurrentCallsGetTheirOwnResponses() async throws {
        try await TestGateway.run { gateway in
            let alice = try await gateway.join("alice")
            let callee = try await gateway.join("bob")
            callee.onProcedure("echo") { $0.payload }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask { try await alice.call("echo", of: bob, payload: "\(number)") == "\(number)" }
                }
                for try await isRight in group { #expect(isRight) }
            }
            await alice.leave()
            await callee.leave()
        }
    }
}

import Testing
import Wire

@testable import PatchbayClient

struct ProcedureHandlersTests {
    private let call = ProcedureInvocation(
        id: "RQ_1", caller: Identity(text: "alice"), method: "add", payload: "1", timeout: .seconds(1))

    private struct Trouble: Error {}

    @Test func handlerResultIsTheResponse() async {
        let answer = await ProcedureHandlers.result(of: call) { $0.payload + $0.caller.text }
        #expect(answer == ProcedureAnswer(requestId: "RQ_1", payload: "1alice"))
    }

    @Test func procedureErrorsAreForwardedAndOthersAreNot() async {
        let told = ProcedureError(code: 42, message: "no")
        #expect(await ProcedureHandlers.result(of: call) { _ in throw told }.error == told)
        #expect(await ProcedureHandlers.result(of: call) { _ in throw Trouble() }.error == .applicationError)
    }

    @Test func oversizedResponseIsAnError() async {
        let answer = await ProcedureHandlers.result(of: call) { _ in String(repeating: "x", count: 15_361) }
        #expect(answer.error == .responseTooLarge)
    }
}

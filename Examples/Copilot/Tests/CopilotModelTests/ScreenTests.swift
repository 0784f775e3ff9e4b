import Foundation
import PatchbayClient
import Testing
import Wire

@testable import CopilotModel
@testable import PatchbayClient

struct ScreenTests {
    private func state(_ phase: AssistantCallState.Phase, _ change: (inout AssistantCallState) -> Void = { _ in }) -> AssistantCallState {
        var state = AssistantCallState()
        state.phase = phase
        change(&state)
        return state
    }

    @Test func theCarHasOneItemAndOneLine() {
        let idle = CarScreen(state(.idle))
        #expect(idle.title == "AI Voice Copilot" && idle.item == "Talk to Assistant" && idle.detail == "" && idle.isEnabled)
        let active = CarScreen(state(.active) { $0.assistant = .present(.speaking) })
        #expect(active.detail == "Speaking" && !active.isEnabled)
        #expect(CarScreen(state(.ended(.hungUp))).isEnabled)
    }

    @Test func theHomeScreenShowsTheRecordingNoticeDuringLoggedCallsOnly() {
        var home = HomeScreen(state(.active) { $0.isLogged = true })
        #expect(home.button == .hangUp && home.notice == "Assistant call may be recorded for your summaries.")
        home = HomeScreen(state(.active))
        #expect(home.notice == nil)
        home = HomeScreen(state(.ended(.hungUp)) { $0.isLogged = true })
        #expect(home.button == .call && home.notice == nil)
        home = HomeScreen(state(.active) { ($0.isLogged, $0.context) = (true, .carplay) })
        #expect(home.notice == nil)
    }

    @Test func everyFailureHasASentence() {
        let failures: [AssistantCallState.Failure] = [
            .loggedOut, .unreachable, .refused(GatewayRefusal(status: 503, code: .draining, message: "m")),
            .refused(GatewayRefusal(status: 429, code: .tooManySessions, message: "m")), .disconnected(.lost),
        ]
        let texts = failures.map { Texts.status(of: state(.ended(.failed($0)))) }
        #expect(Set(texts).count == failures.count && !texts.contains(""))
    }

    @Test func aDeniedMicrophoneIsExplainedDuringTheCall() {
        #expect(HomeScreen(state(.active) { $0.microphoneProblem = "x" }).microphoneProblem?.isEmpty == false)
        #expect(HomeScreen(state(.ended(.hungUp)) { $0.microphoneProblem = "x" }).microphoneProblem == nil)
    }

    @Test(arguments: [("none", Texts.notLogged), ("pending", Texts.summaryPending), ("failed", Texts.noSummary)])
    func aSessionWithoutASummarySaysWhy(status: String, text: String) throws {
        let json = """
            {"session":{"id":"a","context":"phone","startedAt":"2026-11-21T13:16:56Z","loggingEnabledSnapshot":true,\
            "summaryStatus":"\(status)"},"summary":null,"turns":[]}
            """
        #expect(SessionScreen(try JSONDecoder().decode(Sessions.Detail.self, from: Data(json.utf8))).summary == text)
    }
}

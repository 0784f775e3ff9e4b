import CopilotModel
import Foundation
import PatchbayClient
import Testing

struct SystemCallTests {
    private var call = SystemCall()
    private let id = UUID()

    private mutating func run() {
        _ = call.handle(.callTapped(.phone, id: id))
        _ = call.handle(.startPerformed(id))
    }

    @Test mutating func theAssistantIsCalledOnceTheSystemAllowsIt() {
        #expect(call.handle(.callTapped(.carplay, id: id)) == [.requestStart(id)])
        #expect(call.handle(.phase(.idle)) == [])
        #expect(call.handle(.startPerformed(id)) == [.reportConnecting(id), .start(.carplay)])
        #expect(call.handle(.phase(.starting)) == [] && call.handle(.phase(.connecting)) == [])
        #expect(call.handle(.phase(.active)) == [.reportConnected(id)])
        // For the system, a restored connection is not a new one.
        #expect(call.handle(.phase(.reconnecting)) == [] && call.handle(.phase(.active)) == [])
    }

    @Test mutating func hangingUpGoesThroughTheSystem() {
        run()
        #expect(call.handle(.hangUpTapped) == [.requestEnd(id)])
        #expect(call.handle(.endPerformed(id)) == [.end])
        #expect(call.id == nil)
        // The system already knows that the call has ended.
        #expect(call.handle(.phase(.ended(.hungUp))) == [])
    }

    @Test mutating func aCallFromTheCarIsEndedOnThePhone() {
        _ = call.handle(.callTapped(.carplay, id: id))
        _ = call.handle(.startPerformed(id))
        #expect(call.handle(.endPerformed(UUID())) == [])
        #expect(call.handle(.endPerformed(id)) == [.end])
    }

    @Test mutating func rapidTapsStartOneCall() {
        #expect(call.handle(.callTapped(.phone, id: id)) == [.requestStart(id)])
        for _ in 0..<5 { #expect(call.handle(.callTapped(.carplay, id: UUID())) == []) }
        #expect(call.handle(.startPerformed(id)) == [.reportConnecting(id), .start(.phone)])
        #expect(call.handle(.callTapped(.phone, id: UUID())) == [])
        #expect(call.id == id)
    }

    @Test mutating func aRefusedCallLeavesNothingBehind() {
        _ = call.handle(.callTapped(.phone, id: id))
        #expect(call.handle(.startRefused(id)) == [] && call.id == nil)
        #expect(call.handle(.startPerformed(id)) == [])
        let next = UUID()
        #expect(call.handle(.callTapped(.phone, id: next)) == [.requestStart(next)])
    }

    @Test mutating func aCallThatEndsByItselfIsReported() {
        run()
        #expect(call.handle(.phase(.ended(.endedElsewhere))) == [.reportEnded(id, hasFailed: false)])
        run()
        #expect(call.handle(.phase(.ended(.failed(.unreachable)))) == [.reportEnded(id, hasFailed: true)])
        #expect(call.handle(.endPerformed(id)) == [])
    }

    @Test mutating func muteGoesThroughTheSystemToo() {
        #expect(call.handle(.muteTapped(true)) == [])
        run()
        #expect(call.handle(.muteTapped(true)) == [.requestMute(id, true)])
        // The user mutes with the car's button.
        #expect(call.handle(.mutePerformed(id, true)) == [.setMuted(true)])
        #expect(call.handle(.mutePerformed(UUID(), false)) == [])
    }

    @Test mutating func aResetOfTheSystemEndsTheAssistantsCall() {
        #expect(call.handle(.reset) == [])
        run()
        #expect(call.handle(.reset) == [.end] && call.id == nil)
    }
}

import Engine
import Testing
import Wire

/// Users that do not exist, as the store has reported.
struct UnknownCalleeTests {
    private var world = CallWorld()
    private let ann: DeviceID

    init() {
        ann = world.connect("ann")
    }

    private mutating func send(_ request: CallRequest) -> CallWorld.Answer? {
        let requester = CallStateMachine.Requester.web("ann", number: 1)
        world.answers[requester] = nil
        world.receive(.request(request, from: requester, unknown: [.user("nobody")]))
        return world.answers[requester]?.first
    }

    @Test mutating func callOfNobodyIsNotFoundAtOnce() {
        #expect(send(.start(CallStart(to: [.user("nobody")])))?.code == .notFound)
        #expect(world.machine.count == 0 && world.effects.count == 1)
    }

    @Test mutating func oneStrangerRefusesTheWholeCall() {
        let bob = world.connect("bob")
        #expect(send(.start(CallStart(to: [.user("bob"), .user("nobody")])))?.code == .notFound)
        #expect(world.received[bob] == nil)
    }

    @Test mutating func invitationOfNobodyIsNotFound() {
        let call = world.call(ann, "bob")
        #expect(send(.invite(call, [.user("nobody")]))?.code == .notFound)
        #expect(world.machine.snapshot(of: "ann").first?.members.count == 2)
    }

    @Test mutating func invalidRequestIsReportedFirst() {
        #expect(send(.start(CallStart(to: [.user("nobody"), .user("nobody")])))?.code == .invalidArgument)
        #expect(send(.invite(CallID(text: "none"), [.user("nobody")]))?.code == .notFound)
    }
}

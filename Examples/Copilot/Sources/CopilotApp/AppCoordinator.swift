#if canImport(UIKit) && canImport(SwiftUI) && canImport(CarPlay) && os(iOS)
    import CarPlay
    import CopilotModel
    import PatchbayClient
    import SwiftUI
    import UIKit

    /// The objects that phone and car share: one account, one call.
    @MainActor @Observable
    public final class AppCoordinator {
        public static let shared = AppCoordinator()

        public let copilot: Copilot
        public private(set) var callState = AssistantCallState()
        let calls: CallManager
        private let call: AssistantCall

        private init() {
            // The value of `CopilotURL` in Info.plist, such as https://voice.example.org.
            let url = Bundle.main.object(forInfoDictionaryKey: "CopilotURL") as? String ?? ""
            let account: Account
            do { account = try Account(url: url, storage: KeychainStorage()) } catch { fatalError("CopilotURL in Info.plist: \(error)") }
            let copilot = Copilot(backend: AccountBackend(account))
            let audio = CallAudio()
            let call = AssistantCall(backend: account.sessions, audio: audio)
            self.copilot = copilot
            self.call = call
            calls = CallManager(call: call, audio: audio) { copilot.isLoggingEnabled }
        }

        /// Follows the call as long as the app runs.
        func follow() async {
            for await state in call.states { callState = state }
        }
    }

    /// The app's delegate. An app target has `@main struct Main: …` or a subclass; scenes are configured in Info.plist.
    open class AppDelegate: UIResponder, UIApplicationDelegate {
        open func application(
            _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            // The car may connect before the phone's scene does, so the shared state depends on neither.
            Task { await AppCoordinator.shared.follow() }
            return true
        }
    }

    /// The phone's scene.
    @objc(SceneDelegate)
    public final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
        public var window: UIWindow?

        public func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
            guard let scene = scene as? UIWindowScene else { return }
            let window = UIWindow(windowScene: scene)
            window.rootViewController = UIHostingController(rootView: ContentView(app: .shared))
            window.makeKeyAndVisible()
            self.window = window
        }

        public func sceneDidBecomeActive(_ scene: UIScene) {
            Task { await AppCoordinator.shared.copilot.load() }
        }
    }

    /// The car's scene: a list with a single item. It shows nothing of the conversation.
    @objc(CarPlaySceneDelegate)
    public final class CarPlaySceneDelegate: UIResponder, CPTemplateApplicationSceneDelegate {
        private var watching: Task<Void, Never>?

        public func templateApplicationScene(
            _ scene: CPTemplateApplicationScene, didConnect controller: CPInterfaceController
        ) {
            let app = AppCoordinator.shared
            let screen = CarScreen(app.callState)
            let item = CPListItem(text: screen.item, detailText: screen.detail)
            item.handler = { _, completion in
                app.calls.startAssistantCall(context: .carplay)
                completion()
            }
            let list = CPListTemplate(title: screen.title, sections: [CPListSection(items: [item])])
            controller.setRootTemplate(list, animated: false, completion: nil)
            watching = Task { [weak item] in
                for await state in app.states {
                    let screen = CarScreen(state)
                    item?.setDetailText(screen.detail)
                    item?.isEnabled = screen.isEnabled
                }
            }
        }

        public func templateApplicationScene(
            _ scene: CPTemplateApplicationScene, didDisconnectInterfaceController controller: CPInterfaceController
        ) {
            watching?.cancel()
        }
    }

    extension AppCoordinator {
        var states: AsyncStream<AssistantCallState> { call.states }
    }
#endif
